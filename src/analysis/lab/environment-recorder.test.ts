import { expect, test } from 'vitest';
import { RoomsEnvironment } from '../../environments/rooms/environment.ts';
import { exampleRoom } from '../../environments/rooms/example-rooms.ts';
import { improvedTable } from './checks.ts';
import { EstimateColumns, levelColumn } from './columns.ts';
import { EnvironmentRecorder } from './environment-recorder.ts';
import { measure } from './measures.ts';
import { drawProbes, PinnedRecorder } from './recorder.ts';
import { LabSimulator } from './simulation.ts';
import { labTask } from './task.ts';

test('playing environments with truth by Monte Carlo measures what the exact lab does, within intervals', async () => {
  const open = () => {
    const environment = new RoomsEnvironment();
    environment.resetToRoom(exampleRoom('S7'), { stepLimit: 10 });
    return environment;
  };
  const policy = improvedTable(open(), 1, 1);
  const columns = new EstimateColumns({ request: {}, deepest: 1, methods: [], parts: false });
  const played = await EnvironmentRecorder.open(
    {
      openEpisode: open,
      tasks: 1,
      policy,
      memory: 1,
      probes: 24,
      gamma: 0.95,
      penalty: 0.1,
      precision: 0.3,
      rollouts: 64,
      groupSize: 6,
      seed: 1,
    },
    columns,
  );
  const simulator = new LabSimulator([labTask(open(), policy, { memory: 1, gamma: 0.95, penalty: 0.1 })]);
  const exact = new PinnedRecorder(simulator, columns, drawProbes(simulator, 48, 2), { groupSize: 6, seed: 2 });
  for (let r = 0; r < 30; r++) {
    await played.advance();
    exact.advance();
  }
  expect(played.truthError).toBeGreaterThan(0);
  for (const k of [0, 1]) {
    const [a, b] = [played.sample(), exact.sample()].map((sample) =>
      measure(sample, sample.columns.get(levelColumn(k, 'mean_norm'))!, { target: 'state' }),
    ) as [ReturnType<typeof measure>, ReturnType<typeof measure>];
    for (const figure of ['signedBias', 'mse', 'variance', 'rmsBias'] as const) {
      expect(a[figure].low).toBeLessThanOrEqual(b[figure].high);
      expect(b[figure].low).toBeLessThanOrEqual(a[figure].high);
    }
  }
});
