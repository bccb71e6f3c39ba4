import { useId, useState } from 'react';
import { metricTable } from '../../workers/training/client.ts';
import { Fold } from '../shell/Fold.tsx';
import { amend, go, openRun, rollBack, rollBackAnd, useTrainer } from './trainer.ts';
import { useTrainingTexts } from './use-training-texts.ts';

/** The alarm that stopped the run: what, when, the last values, and what can be done about it. */
export function AlarmBox() {
  const texts = useTrainingTexts();
  const { alarm } = useTrainer((state) => state.status);
  const run = useTrainer(openRun);
  if (!alarm || !run) return null;
  return (
    <section className="alarm" role="alert" aria-label={texts.alarmTitle}>
      <h3>{texts.alarmTitle}</h3>
      <p>{texts.alarm(alarm)}</p>
      <p className="small soft">
        {texts.alarmValues(alarm, texts.metric(alarm.quantity, metricTable[alarm.quantity].name))}
      </p>
      <WaysBack key={alarm.iteration} rate={run.run.settings.learningRate / 2} />
      <p>
        <button type="button" onClick={() => void go(run.plan, 'to the end')}>
          {texts.goOnAnyway}
        </button>
      </p>
    </section>
  );
}

/** The same ways back for a run that nothing is wrong with. */
export function GoBack() {
  const texts = useTrainingTexts();
  const { activity, alarm, hasLastGood } = useTrainer((state) => state.status);
  const run = useTrainer(openRun);
  if (!run || alarm || !hasLastGood) return null;
  const { iterations } = run.run.settings;
  return (
    <Fold name="back" className="go-back" summary={texts.back}>
      <WaysBack key={`${run.id} ${run.run.settings.learningRate}`} rate={run.run.settings.learningRate} />
      <p>
        <button
          type="button"
          disabled={activity !== 'idle'}
          onClick={() => void amend({ iterations: iterations + 50 })}
        >
          {texts.moreIterations(50)}
        </button>
      </p>
    </Fold>
  );
}

function WaysBack({ rate }: { readonly rate: number }) {
  const texts = useTrainingTexts();
  const { best, activity, hasLastGood } = useTrainer((state) => state.status);
  const kept = useTrainer((state) => openRun(state)?.run.settings.learningRate ?? 0);
  const [typed, type] = useState(String(rate));
  const id = useId();
  const learningRate = Number(typed);
  const isNumber = typed.trim() !== '' && learningRate > 0 && learningRate <= 10;
  const back = (to: 'best' | 'last good') =>
    void (learningRate === kept ? rollBack(to) : rollBackAnd(to, { learningRate }));
  const disabled = activity !== 'idle' || !isNumber;
  return (
    <>
      <p>
        <label htmlFor={id}>{texts.rateFromHere}</label>{' '}
        <input
          id={id}
          type="number"
          min={0}
          max={10}
          step="any"
          aria-invalid={!isNumber}
          value={typed}
          onChange={(event) => {
            type(event.currentTarget.value);
          }}
        />
      </p>
      <p className="ways-back">
        {best && (
          <button
            type="button"
            disabled={disabled}
            onClick={() => {
              back('best');
            }}
          >
            {texts.backTo.best(best.iteration, best.success)}
          </button>
        )}
        {hasLastGood && (
          <button
            type="button"
            disabled={disabled}
            onClick={() => {
              back('last good');
            }}
          >
            {texts.backTo['last good']}
          </button>
        )}
      </p>
    </>
  );
}
