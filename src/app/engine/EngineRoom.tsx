import { lazy, Suspense, useState } from 'react';
import { useTexts } from '../text/language.ts';
import './EngineRoom.css';

// Only the curious open it, so only they load it.
const EngineInside = lazy(() => import('./EngineInside.tsx').then((module) => ({ default: module.EngineInside })));

/** For the curious: the adapter, the kernels with their source, and the comparison of each with its twin. */
export function EngineRoom() {
  const texts = useTexts().engine;
  const [opened, open] = useState(false);
  return (
    <details
      className="engine-room wide-chapter"
      onToggle={(event) => {
        if (event.currentTarget.open) open(true);
      }}
    >
      <summary>
        <h2>{texts.title}</h2> <span className="small soft">{texts.subtitle}</span>
      </summary>
      {opened && (
        <Suspense fallback={<p className="soft">{texts.looking}</p>}>
          <EngineInside />
        </Suspense>
      )}
    </details>
  );
}
