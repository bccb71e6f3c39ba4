import { useEffect, useRef, useState } from 'react';
import { count, number } from '../number.ts';
import type { EpisodeStart, PresetName, RoomsEvent, ShopEvent } from '../../workers/views.ts';
import {
  branchEnds,
  carryOut,
  followHiddenSwitch,
  goTo,
  pathTo,
  recordedAction,
  startEpisode,
  usePlay,
  type Moment,
} from './episode.ts';
import { useFold } from '../state/unfolded.ts';
import { FloorPlan } from './FloorPlan.tsx';
import { ShopPage } from './ShopPage.tsx';
import { useTexts } from '../text/language.ts';
import { usePlayTexts } from './use-play-texts.ts';
import './Play.css';

const presets: readonly PresetName[] = ['XS', 'S', 'M', 'L', 'XL'];

/** An episode by hand: the room or the shop, what was said and done, what can be done, and every moment to go back to. */
export function Play() {
  const texts = usePlayTexts();
  const page = useTexts().play;
  const played = usePlay();
  const { moments, current, busy, error, hidden, start } = played;
  const [showsHidden, showHidden] = useFold('hidden-state');
  useEffect(() => void followHiddenSwitch(), [showsHidden]);
  const moment = moments[current];
  const recorded = recordedAction(played);
  return (
    <>
      <StartForm busy={busy} />
      {error !== null && (
        <p role="alert" className="play-error">
          {error}{' '}
          {start && moments.length === 0 && (
            <button type="button" onClick={() => void startEpisode(start)}>
              {texts.retry}
            </button>
          )}
        </p>
      )}
      {moment && (
        <div className="play">
          <div className="play-scene">
            <p className="play-goal">
              {moment.view.goal}
              <span className="soft small"> {moment.view.episodeId}</span>
            </p>
            {moment.view.environment === 'rooms' ? (
              <FloorPlan
                events={pathTo(moments, current).map((at) => moments[at]!.view.observation.event as RoomsEvent)}
                hidden={hidden?.environment === 'rooms' ? hidden : null}
                admissible={moment.view.done ? [] : moment.view.admissible}
                onAct={(command) => void carryOut(command)}
              />
            ) : (
              <ShopPage
                event={moment.view.observation.event as ShopEvent}
                hidden={hidden?.environment === 'shop' ? hidden : null}
                admissible={moment.view.done ? [] : moment.view.admissible}
                onAct={(command) => void carryOut(command)}
              />
            )}
            <label className="play-hidden">
              <input
                type="checkbox"
                checked={showsHidden}
                onChange={(event) => {
                  showHidden(event.currentTarget.checked);
                }}
              />{' '}
              {page.showHidden}
            </label>
          </div>
          <History moments={moments} current={current} />
          <div className="play-actions">
            <h3>{texts.commands}</h3>
            {moment.view.done ? (
              <p>{moment.view.won ? texts.won(moment.view.stepIndex) : texts.over(moment.view.stepIndex)}</p>
            ) : (
              <>
                <p className="soft small">{texts.stepOf(moment.view.stepIndex, moment.view.stepLimit)}</p>
                {recorded !== null && <Watch key={`${start?.seed}`} action={recorded} busy={busy} />}
                <CommandField busy={busy} />
                <ul className="play-commands">
                  {moment.view.admissible.map((command) => (
                    <li key={command}>
                      <button
                        type="button"
                        className={moment.view.acting.includes(command) ? undefined : 'play-informs'}
                        disabled={busy}
                        onClick={() => void carryOut(command)}
                      >
                        {command}
                      </button>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </div>
        </div>
      )}
    </>
  );
}

function StartForm({ busy }: { readonly busy: boolean }) {
  const texts = usePlayTexts();
  const [environment, chooseEnvironment] = useState<EpisodeStart['environment']>('rooms');
  const [preset, choosePreset] = useState<PresetName>('S');
  const [seed, chooseSeed] = useState('3');
  return (
    <form
      className="play-start"
      onSubmit={(event) => {
        event.preventDefault();
        void startEpisode({ environment, seed: Number(seed), options: { preset } });
      }}
    >
      <label>
        {texts.environment}{' '}
        <select
          value={environment}
          onChange={(event) => {
            chooseEnvironment(event.currentTarget.value as EpisodeStart['environment']);
          }}
        >
          <option value="rooms">{texts.rooms}</option>
          <option value="shop">{texts.shop}</option>
        </select>
      </label>
      <label>
        {texts.size}{' '}
        <select
          value={preset}
          onChange={(event) => {
            choosePreset(event.currentTarget.value as PresetName);
          }}
        >
          {presets.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        {texts.seed}{' '}
        <input
          type="number"
          min={0}
          max={2147483647}
          required
          value={seed}
          onChange={(event) => {
            chooseSeed(event.currentTarget.value);
          }}
        />
      </label>
      <button type="submit" disabled={busy}>
        {texts.start}
      </button>
    </form>
  );
}

/** What was seen and done on the way here; every line is a moment to go back to, and says what else was tried from it. */
function History({ moments, current }: { readonly moments: readonly Moment[]; readonly current: number }) {
  const texts = usePlayTexts();
  const list = useRef<HTMLOListElement>(null);
  const path = pathTo(moments, current);
  const ends = branchEnds(moments);
  useEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [current]);
  return (
    <div className="play-history">
      <h3>{texts.history}</h3>
      <ol ref={list} tabIndex={0} aria-label={texts.history}>
        {path.map((at) => {
          const { action, view, reward, effective } = moments[at]!;
          return (
            <li key={at}>
              <button
                type="button"
                aria-current={at === current ? 'step' : undefined}
                title={texts.back}
                onClick={() => void goTo(at)}
              >
                {action !== '' && (
                  <span className="play-did">
                    {'› '}
                    {action}
                    {!effective && <em> {texts.noEffect}</em>}
                  </span>
                )}
                <span>
                  {view.observation.text}
                  {reward !== 0 && <strong> {texts.reward(number(reward))}</strong>}
                </span>
              </button>
            </li>
          );
        })}
      </ol>
      {ends.length > 1 && (
        <>
          <h3>{texts.branches}</h3>
          <ul className="play-branches">
            {ends.map((end) => {
              const { view } = moments[end]!;
              const fork = pathTo(moments, end).find((at, index) => at !== path[index]);
              return (
                <li key={end}>
                  <button
                    type="button"
                    aria-current={end === current ? 'true' : undefined}
                    onClick={() => void goTo(end)}
                  >
                    {end === current || fork === undefined ? texts.thisBranch : texts.branch(moments[fork]!.action)}
                    <span className="soft">
                      {' '}
                      {texts.branchState(view.stepIndex, view.won ? 'won' : view.done ? 'over' : 'open')}
                    </span>
                  </button>
                </li>
              );
            })}
          </ul>
        </>
      )}
      <p className="soft small">{texts.moments(count(moments.length))}</p>
    </div>
  );
}

/** The recorded trajectory goes on: one step at a time, or by itself. */
function Watch({ action, busy }: { readonly action: string; readonly busy: boolean }) {
  const texts = usePlayTexts();
  const [running, run] = useState(false);
  useEffect(() => {
    if (!running || busy) return;
    const timer = setTimeout(() => void carryOut(action), 800);
    return () => {
      clearTimeout(timer);
    };
  }, [running, busy, action]);
  return (
    <p className="play-watch">
      <button type="button" disabled={busy} onClick={() => void carryOut(action)}>
        {texts.recordedNext(action)}
      </button>
      <button
        type="button"
        aria-pressed={running}
        onClick={() => {
          run(!running);
        }}
      >
        {running ? texts.pause : texts.watch}
      </button>
    </p>
  );
}

function CommandField({ busy }: { readonly busy: boolean }) {
  const texts = usePlayTexts();
  const [command, type] = useState('');
  return (
    <form
      className="play-command"
      onSubmit={(event) => {
        event.preventDefault();
        if (command.trim() === '') return;
        void carryOut(command.trim());
        type('');
      }}
    >
      <label>
        <span className="visually-hidden">{texts.typeCommand}</span>
        <input
          value={command}
          placeholder={texts.typeCommand}
          onChange={(event) => {
            type(event.currentTarget.value);
          }}
        />
      </label>
      <button type="submit" disabled={busy}>
        {texts.send}
      </button>
    </form>
  );
}
