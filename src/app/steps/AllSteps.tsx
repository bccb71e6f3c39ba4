import type { LevelDiagnostics } from '../../analysis/groups.ts';
import type { Estimates } from '../state/estimates.ts';
import type { Method } from '../state/fields.ts';
import type { StepAddress } from './flips.ts';
import { GroupSizes } from './GroupSizes.tsx';
import { NoSignal } from './NoSignal.tsx';
import { SignFlips } from './SignFlips.tsx';
import { Utilisation } from './Utilisation.tsx';

interface AllStepsProps {
  readonly estimates: Estimates;
  readonly levels: readonly LevelDiagnostics[];
  readonly method: Method;
  readonly against: Method;
  readonly chosen: number;
  readonly onChoose: (address: StepAddress) => void;
}

/** What holds for all steps of the batch: how large groups are, who has company, where methods disagree. */
export function AllSteps({ estimates, levels, method, against, chosen, onChoose }: AllStepsProps) {
  const deepest = estimates.byMethod.hgpo.settings.K;
  return (
    <>
      <GroupSizes levels={levels} deepest={deepest} />
      <div className="wide-columns">
        <Utilisation levels={levels} deepest={deepest} />
        <NoSignal estimates={estimates} />
      </div>
      <SignFlips estimates={estimates} method={method} against={against} chosen={chosen} onChoose={onChoose} />
    </>
  );
}
