import { expect, test } from 'vitest';
import { GpuLostError } from '../../gpu/device.ts';
import { TabularPolicy } from '../../rollouts/policies/tabular.ts';
import type { Learner } from '../../training/learner.ts';
import type { RunPlan } from '../../training/run-plan.ts';
import { tabularPlan } from '../../testing/tabular-plan.ts';
import { TabularLearner } from '../../training/tabular-learner.ts';
import { decodeRun, encodeRun } from './kept-run.ts';
import type { OpenLearner } from './open-learner.ts';
import type { RunStatus, TrainingEvent } from './protocol.ts';
import { passingRunStore, type RunStore } from './run-store.ts';
import { TrainingSession } from './session.ts';

const plan: RunPlan = {
  ...tabularPlan,
  options: { groups: 4, groupSize: 4, iterations: 4 },
  episodes: 4,
  validationEpisodes: 8,
};

/** Opens tables; `change` puts something in their way. */
const tables =
  (change: (learner: Learner) => void = () => undefined): OpenLearner =>
  ({ environment, memory }) => {
    const learner: Learner = new TabularLearner(new TabularPolicy({ environment, memory })) as unknown as Learner;
    change(learner);
    return Promise.resolve({
      learner,
      memory,
      files: () => Promise.resolve(new Map()),
      close: () => Promise.resolve(),
    });
  };

function opened(openLearner = tables(), store: RunStore = passingRunStore()) {
  const events: TrainingEvent[] = [];
  const listeners: ((event: TrainingEvent) => void)[] = [];
  let seconds = 0;
  const session = new TrainingSession({
    openLearner,
    store,
    emit: (event) => {
      events.push(event);
      for (const listen of listeners) listen(event);
    },
    now: () => ++seconds,
    date: () => 1,
  });
  const status = () => (events.findLast(({ kind }) => kind === 'status') as { status: RunStatus }).status;
  // Times are not part of what these tests compare.
  const history = () =>
    events.flatMap((event) => {
      if (event.kind !== 'iteration') return [];
      const { rolloutSeconds, groupSeconds, advantageSeconds, updateSeconds, ...metrics } = event.metrics;
      expect(Math.min(rolloutSeconds, groupSeconds, advantageSeconds, updateSeconds)).toBeGreaterThan(0);
      return [metrics];
    });
  /** Resolves with the first status that is as asked. */
  const reaches = (wanted: (status: RunStatus) => boolean) =>
    new Promise<void>((resolve) => {
      listeners.push((event) => {
        if (event.kind === 'status' && wanted(event.status)) resolve();
      });
    });
  return { session, events, listeners, status, history, reaches, store };
}

async function unbroken() {
  const { session, history } = opened();
  await session.create(plan);
  await session.go('to the end');
  return history();
}

test('a run goes to its end and says why it stopped', async () => {
  const { session, status, history } = opened();
  await session.create(plan);
  await session.go('to the end');
  expect(status()).toMatchObject({ activity: 'idle', reason: 'iterations', iteration: 4, error: null });
  expect(history().map(({ iteration }) => iteration)).toEqual([0, 1, 2, 3]);
});

test('phases and iterations are run alone, and lead where a whole run leads', async () => {
  const { session, status, history } = opened();
  await session.create(plan);
  const phases = [];
  for (let i = 0; i < 4; i++) {
    phases.push(status().phase);
    await session.go('phase');
  }
  expect(phases).toEqual(['roll-out', 'group', 'compare', 'update']);
  expect(history()).toHaveLength(1);
  await session.go('phase');
  expect(session.rollouts()!.batch.rowCount).toBeGreaterThan(0);
  // The rest of the iteration.
  await session.go('iteration');
  expect(status()).toMatchObject({ iteration: 2, phase: 'roll-out' });
  await session.go('to the end');
  expect(history()).toEqual(await unbroken());
});

test('a paused run waits inside a phase until it is told to go on, and is the same run', async () => {
  const { session, listeners, status, history, reaches } = opened();
  await session.create(plan);
  listeners.push((event) => {
    if (event.kind === 'progress' && event.progress.iteration === 1 && event.progress.phase === 'roll-out')
      session.pause();
  });
  const waits = reaches(({ activity }) => activity === 'waiting');
  const run = session.go('to the end');
  await waits;
  listeners.length = 0;
  expect(status()).toMatchObject({ iteration: 1, phase: 'roll-out' });
  await session.go('to the end');
  await run;
  expect(history()).toEqual(await unbroken());
});

test('a run that is stopped inside a phase goes on as if it had not been', async () => {
  const { session, listeners, status, history } = opened();
  await session.create(plan);
  listeners.push((event) => {
    if (event.kind === 'progress' && event.progress.iteration === 2 && event.progress.phase === 'roll-out')
      session.stop();
  });
  await session.go('to the end');
  expect(status()).toMatchObject({ activity: 'idle', reason: 'stopped', iteration: 2 });
  listeners.length = 0;
  await session.go('to the end');
  expect(history()).toEqual(await unbroken());
});

test('a run that is opened again from storage goes on bit for bit', async () => {
  const store = passingRunStore();
  const first = opened(tables(), store);
  await first.session.create(plan);
  await first.session.go('iteration');
  await first.session.go('iteration');
  const { id } = first.status();
  const again = opened(tables(), store);
  await again.session.reopen(id!);
  await again.session.go('to the end');
  expect([...first.history(), ...again.history()]).toEqual(await unbroken());
  expect(again.status().best).not.toBeNull();
});

test('a lost device is replaced, and the run goes on from the last iteration', async () => {
  let updates = 0;
  const { session, status, history } = opened(
    tables((learner) => {
      const update = learner.update.bind(learner);
      learner.update = (request) => {
        if (++updates === 3) throw new GpuLostError('gone');
        return update(request);
      };
    }),
  );
  await session.create(plan);
  await session.go('to the end');
  expect(status()).toMatchObject({ reason: 'iterations', devicesLost: 1, error: null });
  expect(history()).toEqual(await unbroken());
});

test('a device that is lost again and again ends the run with a sentence', async () => {
  const { session, status } = opened(
    tables((learner) => {
      learner.update = () => {
        throw new GpuLostError('The GPU device was lost.');
      };
    }),
  );
  await session.create(plan);
  await session.go('to the end');
  expect(status()).toMatchObject({ activity: 'idle', error: 'The GPU device was lost.', devicesLost: 3 });
});

test('an alarm stops the run, a roll-back answers it, and other options let it go on', async () => {
  let updates = 0;
  const { session, status } = opened(
    tables((learner) => {
      const update = learner.update.bind(learner) as (request: unknown) => object;
      learner.update = ((request: unknown) => ({
        ...update(request),
        ...(++updates === 3 ? { loss: NaN } : {}),
      })) as unknown as Learner['update'];
    }),
  );
  await session.create(plan);
  await session.go('to the end');
  expect(status()).toMatchObject({ reason: 'alarm', alarm: { kind: 'not-finite', iteration: 2 } });
  await session.rollBack('last good');
  expect(status()).toMatchObject({ iteration: 2, alarm: null });
  await session.amend({ learningRate: 0.1, iterations: 5 });
  await session.go('to the end');
  expect(status()).toMatchObject({ reason: 'iterations', iteration: 5 });
});

test('an episode is played by the policy before and now, and the run is as if nobody had looked', async () => {
  const { session, history } = opened();
  await session.create(plan);
  await session.go('iteration');
  await session.go('phase');
  const request = { split: 'set', episode: 2, temperature: 1, seed: 7 } as const;
  const before = await session.play({ ...request, policy: 'before' });
  const now = await session.play({ ...request, policy: 'now' });
  expect(before!.goal).toBe(now!.goal);
  expect(before!.steps.length).toBeGreaterThan(0);
  // At temperature 0 equal policies play equal episodes, whatever is drawn.
  const likeliest = { ...request, temperature: 0, policy: 'now' } as const;
  expect(await session.play(likeliest)).toEqual(await session.play(likeliest));
  await session.go('to the end');
  expect(history()).toEqual(await unbroken());
});

test('a checkpoint file is taken in as a run of its own, with its best checkpoint', async () => {
  const first = opened();
  await first.session.create(plan);
  await first.session.go('iteration');
  await first.session.go('iteration');
  const bytes = await first.session.checkpoint(first.status().id!);
  const second = opened();
  await second.session.takeIn(bytes, plan);
  expect(second.status()).toMatchObject({ iteration: 2, error: null, best: first.status().best });
  await second.session.go('to the end');
  expect([...first.history(), ...second.history()]).toEqual(await unbroken());
  await second.session.takeIn(bytes.slice(0, 100), plan);
  expect(second.status().error).toMatch(/no checkpoint that can be read/);
});

test('how long an iteration takes is measured on a run of its own', async () => {
  const { session, status, history } = opened();
  const found = (await session.measure(plan))!;
  expect(found.rows).toBe(4 * 4 * 20);
  expect(found.seconds).toBeCloseTo((found.probeSeconds * found.rows) / found.probeRows);
  expect(status()).toMatchObject({ activity: 'idle', id: null });
  await session.create(plan);
  await session.go('to the end');
  expect(history()).toEqual(await unbroken());
});

test('a plan that cannot be is refused before anything is opened', async () => {
  const { session, status, events } = opened();
  await expect(session.create({ ...plan, options: { groupSize: 1 } })).rejects.toThrow(/nothing to compare/);
  expect(events).toEqual([]);
  session.status();
  expect(status().id).toBeNull();
});

test('what lies damaged in storage is named and left out', async () => {
  const { session, store, events } = opened();
  await session.create(plan);
  await store.write({ id: 'damaged', savedAt: 0, bytes: new Uint8Array(9) });
  const { unreadable } = await session.kept();
  expect(events.filter(({ kind }) => kind === 'found')).toHaveLength(1);
  expect(unreadable).toEqual(['damaged']);
});

test('a long history comes in parts that make up the whole', async () => {
  const { session, store, events } = opened();
  await session.create(plan);
  await session.go('iteration');
  const { id, bytes } = (await store.all())[0]!;
  const { state } = decodeRun(bytes);
  const history = Array.from({ length: 2500 }, (_, iteration) => ({ ...state.history[0]!, iteration }));
  await store.write({ id, savedAt: 0, bytes: encodeRun({ plan, state: { ...state, history }, best: null }) });
  events.length = 0;
  await session.kept();
  const parts = events.map((event) => {
    if (event.kind === 'found') return event.record.history;
    expect(event).toMatchObject({ kind: 'history', id });
    return event.kind === 'history' ? event.metrics : [];
  });
  expect(parts.flat()).toEqual(history);
  expect(Math.max(...parts.map(({ length }) => length))).toBe(1000);
});
