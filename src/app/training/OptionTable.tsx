import { optionTexts } from '../../estimators/option-texts.ts';
import { optionNames } from '../../estimators/settings.ts';
import type { RunSettings } from '../../workers/training/client.ts';
import { Fold } from '../shell/Fold.tsx';
import { useTrainingTexts } from './use-training-texts.ts';

/** Every option of a run: its value, what it does and where it comes from. */
export function OptionTable({ run }: { readonly run: RunSettings }) {
  const texts = useTrainingTexts();
  return (
    <Fold name="options" className="plan-more" summary={texts.everyOption}>
      <div className="runs-scroll options-scroll" tabIndex={0} role="region" aria-label={texts.everyOption}>
        <table className="runs">
          <thead>
            <tr>
              {texts.optionHead.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody lang="en">
            {optionNames.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{String(run.settings[name])}</td>
                <td>{optionTexts[name].about}</td>
                <td>{optionTexts[name].source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Fold>
  );
}
