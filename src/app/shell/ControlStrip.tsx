import { useId } from 'react';
import { methods as methodTable } from '../../estimators/registry.ts';
import { number } from '../number.ts';
import { methods, settingFields, type NumberField } from '../state/fields.ts';
import { useSettings } from '../state/controls.ts';
import { useEstimates } from '../state/estimates.ts';
import { useLessonView, type LessonControl } from '../state/lesson-view.ts';
import { onRaster } from '../state/repair.ts';
import { useFold } from '../state/unfolded.ts';
import { useTexts } from '../text/language.ts';
import { Differences } from './Differences.tsx';
import './ControlStrip.css';

/** Method, α, K, N, γ, normalisation and preset: always in sight, each moves what is on screen at once. */
export function ControlStrip({ groupSize }: { readonly groupSize: number }) {
  const texts = useTexts();
  const settings = useSettings();
  const moved = useEstimates((state) => state.moved);
  // On a narrow screen the controls are a sheet.
  const [open, setOpen] = useFold('controls');
  const locked = useLessonView((view) => view.locked);
  const part = (name: LessonControl) => ({ part: name, disabled: locked.includes(name) });
  const offset = settings.preset === 'paper' ? 1 : 2;
  const weights = Array.from({ length: settings.depth + 1 }, (_, k) => (k + offset) ** settings.alpha);
  const set = useSettings.setState;
  const members = settings.members === 0 ? groupSize : Math.min(settings.members, groupSize);

  return (
    <section className={open ? 'strip strip-open' : 'strip'} aria-label={texts.controls.title}>
      <fieldset className="strip-methods" data-part="method" disabled={locked.includes('method')}>
        <legend className="visually-hidden">{texts.method}</legend>
        {methods.map((method) => (
          <label key={method} className="strip-method" title={texts.sentences[method] ?? methodTable[method].sentence}>
            <input
              type="radio"
              name="method"
              value={method}
              checked={settings.method === method}
              onChange={() => {
                set({ method });
              }}
            />
            <span>{methodTable[method].name}</span>
          </label>
        ))}
      </fieldset>
      <button
        type="button"
        className="strip-toggle"
        aria-expanded={open}
        aria-controls="strip-controls"
        onClick={() => {
          setOpen(!open);
        }}
      >
        {texts.controls.title}
      </button>
      <div className="strip-controls" id="strip-controls">
        <Slider
          {...part('alpha')}
          label={texts.controls.alpha}
          field={{ ...settingFields.alpha, max: 4 }}
          value={settings.alpha}
          shown={number(settings.alpha)}
          meaning={texts.controls.alphaMeaning(settings.alpha, weights)}
          onChange={(alpha) => {
            set({ alpha });
          }}
        />
        <Slider
          {...part('depth')}
          label={texts.controls.depth}
          field={settingFields.depth}
          value={settings.depth}
          shown={String(settings.depth)}
          meaning={texts.controls.depthMeaning(settings.depth)}
          onChange={(depth) => {
            set({ depth });
          }}
        />
        <Slider
          {...part('members')}
          label={texts.controls.members}
          field={{ min: Math.min(2, groupSize), max: groupSize, step: 1 }}
          value={members}
          shown={String(members)}
          meaning={texts.controls.membersMeaning(members)}
          onChange={(chosen) => {
            set({ members: chosen === groupSize ? 0 : chosen });
          }}
        />
        <Slider
          {...part('gamma')}
          label={texts.controls.gamma}
          field={{ ...settingFields.gamma, min: 0.5 }}
          value={settings.gamma}
          shown={settings.gamma.toFixed(2)}
          meaning={texts.controls.gammaMeaning(settings.gamma)}
          onChange={(gamma) => {
            set({ gamma });
          }}
        />
        <Select
          {...part('normalisation')}
          label={texts.controls.normalisation}
          title={texts.controls.normalisationLong}
          value={settings.normalisation}
          options={settingFields.normalisation.options}
          names={texts.controls.normalisations}
          onChange={(normalisation) => {
            set({ normalisation });
          }}
        />
        <Select
          {...part('preset')}
          label={texts.controls.preset}
          title={texts.controls.presetHint}
          value={settings.preset}
          options={settingFields.preset.options}
          names={texts.controls.presets}
          onChange={(preset) => {
            set({ preset });
          }}
        />
        <span data-part="preset">
          <Differences />
        </span>
      </div>
      <output className="strip-moved small soft" aria-live="polite">
        {moved && texts.controls.moved(moved.flips, moved.changed)}
      </output>
    </section>
  );
}

interface ControlPart {
  readonly part: LessonControl;
  readonly disabled: boolean;
}

interface SliderProps extends ControlPart {
  readonly label: string;
  readonly field: Pick<NumberField, 'min' | 'max' | 'step'>;
  readonly value: number;
  readonly shown: string;
  /** What the value means, spoken by a screen reader and shown on hover. */
  readonly meaning: string;
  readonly onChange: (value: number) => void;
}

function Slider({ part, disabled, label, field, value, shown, meaning, onChange }: SliderProps) {
  const id = useId();
  return (
    <span className="strip-control" data-part={part} title={meaning}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="range"
        min={field.min}
        max={field.max}
        step={field.step}
        value={value}
        disabled={disabled}
        aria-valuetext={meaning}
        onChange={(event) => {
          onChange(onRaster(field, event.currentTarget.valueAsNumber));
        }}
      />
      <output htmlFor={id} aria-hidden="true">
        {shown}
      </output>
    </span>
  );
}

interface SelectProps<T extends string> extends ControlPart {
  readonly label: string;
  readonly title: string;
  readonly value: T;
  readonly options: readonly T[];
  readonly names: Readonly<Record<T, string>>;
  readonly onChange: (value: T) => void;
}

function Select<T extends string>({ part, disabled, label, title, value, options, names, onChange }: SelectProps<T>) {
  const id = useId();
  return (
    <span className="strip-control" data-part={part} title={title}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        disabled={disabled}
        value={value}
        onChange={(event) => {
          onChange(event.currentTarget.value as T);
        }}
      >
        {options.map((option) => (
          <option key={option} value={option}>
            {names[option]}
          </option>
        ))}
      </select>
    </span>
  );
}
