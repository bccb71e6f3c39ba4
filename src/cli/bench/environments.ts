import { RoomsEnvironment } from '../../environments/rooms/environment.ts';
import { generateCatalogue } from '../../environments/shop/catalogue.ts';
import { ShopEnvironment, shopPresets } from '../../environments/shop/environment.ts';
import { choiceQueries, generateGoals } from '../../environments/shop/goal.ts';
import { Shop } from '../../environments/shop/shop.ts';
import { randomStream } from '../../random/stream.ts';
import { EnvironmentBatch } from '../../workers/environment-batch.ts';
import type { Workload } from './workload.ts';

const STEPS = 100_000;
const BATCH = 1024;
const BATCH_STEPS = 40;
const RESETS = 2_000;
const SNAPSHOTS = 20_000;
const SHOP_STEPS = 20_000;

// Random choices are drawn beforehand, so that the workload is the environment alone.
function draws(seed: number): Uint32Array {
  const stream = randomStream(seed, 'bench');
  return Uint32Array.from({ length: 4096 }, () => stream.nextUint32());
}

/** Steps over the episodes of a preset; a finished environment goes on to the next of 16 episodes. */
function playing(seed: number, choose: (environment: RoomsEnvironment, draw: number) => string | number) {
  const environment = new RoomsEnvironment();
  const choices = draws(seed);
  let episode = 0;
  const next = () => environment.reset(environment.seedForEpisode('train', episode++ % 16), undefined, { preset: 'S' });
  return {
    run: () => {
      const start = performance.now();
      let characters = 0;
      next();
      for (let i = 0; i < STEPS; i++) {
        if (environment.done) next();
        const { text } = environment.step(choose(environment, choices[i & 4095]!)).observation;
        // Reading a character makes the engine write out a text that it had kept as a sum of parts.
        characters += text.charCodeAt(text.length >> 1);
      }
      if (characters === 0) throw new Error('The workload did nothing.');
      return STEPS / ((performance.now() - start) / 1000);
    },
  };
}

export const workloads = ({ seed }: { readonly seed: number }): Workload[] => [
  {
    id: 'env.rooms.text',
    unit: 'steps/s',
    better: 'higher',
    prepare: () =>
      playing(seed, (environment, draw) => {
        const commands = environment.admissible();
        return commands[draw % commands.length]!;
      }),
  },
  {
    id: 'env.rooms.index',
    unit: 'steps/s',
    better: 'higher',
    prepare: () => playing(seed, (environment, draw) => draw % environment.admissibleCount),
  },
  {
    id: 'env.rooms.batch',
    unit: 'steps/s',
    better: 'higher',
    // What one worker does: 1,024 environments behind one call, texts packed, lists numbered.
    prepare: () => {
      const batch = new EnvironmentBatch();
      const ids = Int32Array.from({ length: BATCH }, (_, i) => i);
      const choices = draws(seed);
      const starts = Array.from(ids, (i) => ({
        environment: 'rooms' as const,
        seed: 2 * Math.floor(i / 8),
        options: { preset: 'S' as const },
      }));
      return {
        run: () => {
          let reply = batch.reset(ids, starts);
          const start = performance.now();
          let steps = 0;
          for (let step = 0; step < BATCH_STEPS && reply.ids.length > 0; step++) {
            const { ids, admissibleStart } = reply;
            const actions = ids.map(
              (id, row) => choices[(id + step * 31) & 4095]! % (admissibleStart[row + 1]! - admissibleStart[row]!),
            );
            reply = batch.step(ids, actions);
            steps += ids.length;
          }
          return steps / ((performance.now() - start) / 1000);
        },
      };
    },
  },
  ...(['S', 'L'] as const).map((preset): Workload => ({
    id: `env.rooms.reset.${preset.toLowerCase()}`,
    unit: 'ms',
    better: 'lower',
    prepare: () => {
      const environment = new RoomsEnvironment();
      let episode = 0;
      environment.reset(0, undefined, { preset });
      return {
        run: () => {
          const start = performance.now();
          for (let i = 0; i < RESETS; i++) {
            environment.reset(environment.seedForEpisode('train', episode++), undefined, { preset });
          }
          return (performance.now() - start) / RESETS;
        },
      };
    },
  })),
  {
    id: 'env.snapshot',
    unit: 'µs',
    better: 'lower',
    prepare: () => {
      const environment = new RoomsEnvironment();
      environment.reset(0, undefined, { preset: 'L' });
      const choices = draws(seed);
      const snapshots = Array.from({ length: 20 }, (_, i) => {
        environment.step(choices[i]! % environment.admissible().length);
        return environment.snapshot();
      });
      return {
        // A snapshot and a restore to another moment of the episode: the pair is the value.
        run: () => {
          const start = performance.now();
          for (let i = 0; i < SNAPSHOTS; i++) {
            environment.restore(snapshots[choices[i & 4095]! % snapshots.length]!);
            environment.snapshot();
          }
          return ((performance.now() - start) * 1000) / SNAPSHOTS;
        },
      };
    },
  },
  {
    id: 'env.shop.cached',
    unit: 'steps/s',
    better: 'higher',
    prepare: () => {
      const environment = new ShopEnvironment();
      const choices = draws(seed);
      let episode = 0;
      // 64 goals with five queries each: after the warm-up every ranking is known.
      const next = () => environment.reset(episode++ % 64, undefined, { preset: 'L' });
      return {
        run: () => {
          const start = performance.now();
          let characters = 0;
          next();
          for (let i = 0; i < SHOP_STEPS; i++) {
            if (environment.done) next();
            const commands = environment.admissible();
            const { text } = environment.step(commands[choices[i & 4095]! % commands.length]!).observation;
            characters += text.length;
          }
          if (characters === 0) throw new Error('The workload did nothing.');
          return SHOP_STEPS / ((performance.now() - start) / 1000);
        },
      };
    },
  },
  {
    id: 'env.shop.search',
    unit: 'searches/s',
    better: 'higher',
    prepare: () => {
      const { index, goals } = newShop();
      const queries = goals.train.flatMap((goal) => choiceQueries(goal));
      return {
        run: () => {
          const start = performance.now();
          let found = 0;
          for (const query of queries) found += index.rank(query).length;
          if (found === 0) throw new Error('The workload did nothing.');
          return queries.length / ((performance.now() - start) / 1000);
        },
      };
    },
  },
  {
    id: 'env.shop.index',
    unit: 'ms',
    better: 'lower',
    prepare: () => {
      const { products, goals } = newShop();
      return { run: () => void new Shop(products, goals) };
    },
  },
];

/** A shop of 1,000 products with nothing cached. */
function newShop(): Shop {
  const products = generateCatalogue(0, shopPresets.L.products);
  return new Shop(products, generateGoals(0, products));
}
