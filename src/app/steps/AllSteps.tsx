import { useMemo } from 'react';
import type { Estimates } from '../state/estimates.ts';
import type { Method } from '../state/fields.ts';
import type { StepAddress } from './flips.ts';
import { GroupSizes } from './GroupSizes.tsx';
import { NoSignal } from './NoSignal.tsx';
import { SignFlips } from './SignFlips.tsx';
import { levelSizes } from './sizes.ts';
import { Utilisation } from './Utilisation.tsx';

interface AllStepsProps {
  readonly estimates: Estimates;
  readonly method: Method;
  readonly against: Method;
  readonly chosen: number;
  readonly onChoose: (address: StepAddress) => void;
}

/** What holds for all steps of the batch: how large groups are, who has company, where methods disagree. */
export function AllSteps({ estimates, method, against, chosen, onChoose }: AllStepsProps) {
  const { batch, groups, settings } = estimates;
  const levels = useMemo(() => groups.map((level, k) => levelSizes(k, level, batch.rowCount)), [groups, batch]);
  const deepest = settings.hgpo.K;
  return (
    <>
      <div className="wide-columns">
        <GroupSizes levels={levels} deepest={deepest} />
        <Utilisation levels={levels} deepest={deepest} />
      </div>
      <NoSignal estimates={estimates} />
      <SignFlips estimates={estimates} method={method} against={against} chosen={chosen} onChoose={onChoose} />
    </>
  );
}
