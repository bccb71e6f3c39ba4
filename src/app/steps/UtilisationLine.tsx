import type { LevelDiagnostics } from '../../analysis/groups.ts';
import { Origin } from '../chart/Origin.tsx';
import { Termed } from '../glossary/Termed.tsx';
import { useTexts } from '../text/language.ts';
import { paperUtilisation } from './paper-utilisation.ts';
import './UtilisationLine.css';

type LevelUtilisation = Pick<LevelDiagnostics, 'k' | 'utilisation'>;

/** What the section of all steps shows at length, said above the story: how many steps have company, here and in the paper. */
export function UtilisationLine({
  levels,
  deepest,
}: {
  /** Null until there are estimates. */
  readonly levels: readonly LevelDiagnostics[] | null;
  readonly deepest: number;
}) {
  const texts = useTexts().allSteps;
  // The paper's deepest level has its counterpart even where K does not reach it.
  const said = Math.max(deepest, ...paperUtilisation.map(({ k }) => k));
  const list = (of: readonly LevelUtilisation[], unused: number) =>
    of.map(({ k, utilisation }) => (
      <span key={k} className={k >= unused ? 'soft' : undefined}>
        {texts.utilisationAt(utilisation, k)}
      </span>
    ));
  return (
    <p className="utilisation-line small">
      <span className="soft">
        <Termed text={texts.utilisationLine} terms={['utilisation']} />
      </span>
      {levels && (
        <>
          <span className="utilisation-of">
            <Origin of="measured" />
            {list(levels.slice(0, said + 1), deepest + 1)}
          </span>
          <span className="utilisation-of">
            <Origin of="paper" />
            {list(paperUtilisation, Infinity)}
          </span>
        </>
      )}
      <button
        type="button"
        className="plain-button small"
        onClick={() => {
          document.getElementById('all-steps')?.scrollIntoView({ block: 'start' });
        }}
      >
        {texts.utilisationMore}
      </button>
    </p>
  );
}
