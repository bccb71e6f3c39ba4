import { useState } from 'react';
import type { PlayedEpisode, PlayRequest } from '../../workers/training/client.ts';
import { useView } from '../state/controls.ts';
import { useFold } from '../state/unfolded.ts';
import { openRun, play, useTrainer } from './trainer.ts';
import { useTrainingTexts } from './use-training-texts.ts';

/** One episode played by the policy before training and by the policy as it is now, side by side. */
export function BeforeAfter() {
  const texts = useTrainingTexts().watch;
  const run = useTrainer(openRun);
  const { activity } = useTrainer((state) => state.status);
  const split = useView((view) => view.watchSplit);
  const episode = useView((view) => view.watchEpisode);
  const [isGreedy, choose] = useFold('greedy');
  const [played, keep] = useState<{ before: PlayedEpisode; now: PlayedEpisode; iteration: number } | null>(null);
  const hasSet = run ? run.run.episodes !== null : true;
  const splits = (hasSet ? ['set', 'seen', 'unseen'] : ['train', 'seen', 'unseen']) as readonly PlayRequest['split'][];
  const chosen = splits.includes(split) ? split : splits[0]!;
  const playBoth = async () => {
    const request = { split: chosen, episode, temperature: isGreedy ? 0 : 1, seed: run?.plan.seed ?? 0 };
    const before = await play({ ...request, policy: 'before' });
    const now = before && (await play({ ...request, policy: 'now' }));
    if (now) keep({ before, now, iteration: useTrainer.getState().status.iteration });
  };
  return (
    <section aria-labelledby="before-after" className="before-after">
      <h3 id="before-after">{texts.title}</h3>
      <p className="small soft">{run ? texts.note : texts.none}</p>
      {run && (
        <p className="plan-fields">
          <label>
            {texts.split}{' '}
            <select
              value={chosen}
              onChange={(event) => {
                useView.setState({ watchSplit: event.currentTarget.value as PlayRequest['split'] });
              }}
            >
              {splits.map((name) => (
                <option key={name} value={name}>
                  {texts.splits[name]}
                </option>
              ))}
            </select>
          </label>
          <label>
            {texts.episode}{' '}
            <input
              type="number"
              min={0}
              max={999}
              step={1}
              value={episode}
              onChange={(event) => {
                const value = event.currentTarget.valueAsNumber;
                if (Number.isInteger(value) && value >= 0 && value < 1000) useView.setState({ watchEpisode: value });
              }}
            />
          </label>
          <label>
            {texts.draw}{' '}
            <select
              value={isGreedy ? 'greedy' : 'sampled'}
              onChange={(event) => {
                choose(event.currentTarget.value === 'greedy');
              }}
            >
              <option value="sampled">{texts.draws.sampled}</option>
              <option value="greedy">{texts.draws.greedy}</option>
            </select>
          </label>
          <button type="button" disabled={activity !== 'idle'} onClick={() => void playBoth()}>
            {texts.play}
          </button>
          {activity !== 'idle' && activity !== 'playing' && <span className="small soft">{texts.busy}</span>}
        </p>
      )}
      {played && (
        <>
          <p>{played.now.goal}</p>
          <div className="wide-columns">
            <Episode title={texts.before} episode={played.before} />
            <Episode title={`${texts.now} (${played.iteration})`} episode={played.now} />
          </div>
        </>
      )}
    </section>
  );
}

function Episode({ title, episode }: { readonly title: string; readonly episode: PlayedEpisode }) {
  const texts = useTrainingTexts().watch;
  return (
    <div className="played">
      <h4>{title}</h4>
      <p>{texts.outcome(episode.won, episode.steps.length)}</p>
      <ol tabIndex={0} aria-label={title}>
        {episode.steps.map(({ observation, action, valid }, step) => (
          <li key={step}>
            <span className="played-seen">{observation}</span>
            <span className="played-did">
              › {action}
              {!valid && <em> {texts.invalid}</em>}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
