import { useId, type ReactNode } from 'react';
import { methodNames, methods as methodTable } from '../../estimators/registry.ts';
import { startingPolicies, type RunPlan, type RunSettings } from '../../workers/training/client.ts';
import { Fold } from '../shell/Fold.tsx';
import { useTrainingChoices } from '../state/controls.ts';
import { trainingFields, usual, type TrainingChoices } from '../state/fields.ts';
import { onRaster } from '../state/repair.ts';
import { useTrainingTexts } from './use-training-texts.ts';

type NumberName = {
  [Name in keyof TrainingChoices]: TrainingChoices[Name] extends number ? Name : never;
}[keyof TrainingChoices];
type ChoiceName = Exclude<keyof TrainingChoices, NumberName>;

const change = (choices: Partial<TrainingChoices>) => {
  useTrainingChoices.setState(choices);
};

/** What the next run is to be. */
export function PlanForm({
  plan,
  run,
  hasGpu,
}: {
  readonly plan: RunPlan;
  readonly run: RunSettings | null;
  readonly hasGpu: boolean;
}) {
  const texts = useTrainingTexts();
  const choices = useTrainingChoices();
  const { options } = texts;
  const isNeural = startingPolicies[plan.policy].kind === 'neural';
  const { ablations } = methodTable[choices.trainMethod];
  return (
    <div className="plan">
      <div className="plan-fields">
        <Choice
          name="trainPolicy"
          label={(value) => options.policies[value]}
          isPossible={(value) => hasGpu || value === 'auto' || startingPolicies[value].kind === 'tabular'}
        />
        <Choice name="trainEnvironment" label={(value) => options.environments[value]} />
        <Choice name="trainSize" label={(value) => (value === 'auto' ? options.autoSize : value)} />
        <Labelled text={texts.choices.trainMethod}>
          {(id) => (
            <select
              id={id}
              value={choices.trainMethod}
              onChange={(event) => {
                change({
                  trainMethod: event.currentTarget.value as TrainingChoices['trainMethod'],
                  trainAblation: usual,
                });
              }}
            >
              {methodNames.map((name) => (
                <option key={name} value={name}>
                  {methodTable[name].name}
                </option>
              ))}
            </select>
          )}
        </Labelled>
        {ablations.length > 0 && (
          <Labelled text={texts.choices.trainAblation}>
            {(id) => (
              <select
                id={id}
                value={choices.trainAblation}
                onChange={(event) => {
                  change({ trainAblation: Number(event.currentTarget.value) });
                }}
              >
                <option value={usual}>{options.wholeMethod}</option>
                {ablations.map(({ name }, index) => (
                  <option key={name} value={index}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Labelled>
        )}
        <Choice name="trainPreset" label={(value) => options.presets[value]} />
        {isNeural && <Choice name="trainTuning" label={(value) => options.tunings[value]} />}
        {isNeural && <Choice name="trainDecoding" label={(value) => options.decodings[value]} />}
        <Choice name="trainHidden" label={(value) => options.hidden[value]} />
      </div>
      <Fold name="hyper-parameters" className="plan-more" summary={texts.hyperParameters}>
        <p className="small soft">{texts.amountsHint}</p>
        <div className="plan-fields">
          <Amount name="trainIterations" usually={run?.settings.iterations} />
          <Amount name="trainGroups" usually={run?.settings.groups} />
          <Amount name="trainMembers" usually={run?.settings.groupSize} />
          <Amount name="trainStepLimit" usually={run?.settings.stepLimit} />
          <Amount name="trainLearningRate" usually={run?.settings.learningRate} />
          {startingPolicies[plan.policy].memory === null && <Amount name="trainMemory" />}
          <Amount name="trainDepth" usually={run?.settings.K} />
          <Amount name="trainAlpha" usually={run?.settings.alpha} />
          <Amount name="trainGamma" usually={run?.settings.gamma} />
          <Choice name="trainNormalisation" label={(value) => options.normalisations[value]} />
          <Amount name="trainPenalty" usually={run?.settings.invalidPenalty} />
          <Amount name="trainKl" usually={run?.settings.klCoefficient} />
          <Amount name="trainEntropy" usually={run?.settings.entropyCoefficient} />
          <Amount name="trainSeed" />
          <Amount name="trainValidation" />
          <Amount name="trainUntil" />
          <Amount name="trainMinutes" />
        </div>
      </Fold>
    </div>
  );
}

function Labelled({ text, children }: { readonly text: string; readonly children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <span className="plan-field">
      <label htmlFor={id}>{text}</label>
      {children(id)}
    </span>
  );
}

function Choice<Name extends ChoiceName>({
  name,
  label,
  isPossible = () => true,
}: {
  readonly name: Name;
  readonly label: (value: TrainingChoices[Name]) => string;
  readonly isPossible?: (value: TrainingChoices[Name]) => boolean;
}) {
  const texts = useTrainingTexts();
  const value = useTrainingChoices((state) => state[name]);
  const field = trainingFields[name];
  return (
    <Labelled text={texts.choices[name]}>
      {(id) => (
        <select
          id={id}
          value={value}
          onChange={(event) => {
            change({ [name]: event.currentTarget.value });
          }}
        >
          {(field.options as readonly TrainingChoices[Name][]).map((option) => (
            <option key={option} value={option} disabled={!isPossible(option)}>
              {label(option)}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** A number; empty means the usual one, which stands there in grey. */
function Amount({ name, usually }: { readonly name: NumberName; readonly usually?: number | undefined }) {
  const texts = useTrainingTexts();
  const value = useTrainingChoices((state) => state[name]);
  const field = trainingFields[name];
  const hasUsual = field.default === usual;
  return (
    <Labelled text={texts.choices[name]}>
      {(id) => (
        <input
          id={id}
          type="number"
          min={hasUsual ? 0 : field.min}
          max={field.max}
          step="any"
          value={hasUsual && value < 0 ? '' : value}
          placeholder={hasUsual && value < 0 && usually !== undefined ? String(usually) : undefined}
          onChange={(event) => {
            const { value: typed } = event.currentTarget;
            if (typed === '') change({ [name]: field.default });
            else if (Number.isFinite(Number(typed))) change({ [name]: onRaster(field, Number(typed)) });
          }}
        />
      )}
    </Labelled>
  );
}
