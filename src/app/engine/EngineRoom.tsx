import { lazy, Suspense, useState } from 'react';
import { useFold } from '../state/unfolded.ts';
import { useTexts } from '../text/language.ts';
import './EngineRoom.css';

// Only the curious open it, so only they load it.
const EngineInside = lazy(() => import('./EngineInside.tsx').then((module) => ({ default: module.EngineInside })));

/** For the curious: the adapter, the kernels with their source, and the comparison of each with its twin. */
export function EngineRoom() {
  const texts = useTexts().engine;
  const [isOpen, open] = useFold('engine');
  // Folded away it keeps what its self-test found.
  const [isThere, stay] = useState(isOpen);
  if (isOpen && !isThere) stay(true);
  return (
    <details
      className="engine-room wide-chapter"
      open={isOpen}
      onToggle={(event) => {
        open(event.currentTarget.open);
      }}
    >
      <summary>
        <h2>{texts.title}</h2> <span className="small soft">{texts.subtitle}</span>
      </summary>
      {isThere && (
        <Suspense fallback={<p className="soft">{texts.looking}</p>}>
          <EngineInside />
        </Suspense>
      )}
    </details>
  );
}
