import type { Command } from 'commander';
import { collect, newCommand, type CommonOptions, type Terminal } from './command.ts';
import { UsageError } from './errors.ts';
import { cellText } from './table.ts';
import { isSelected, measure } from './bench/harness.ts';
import { areas } from './bench/registry.ts';
import type { Workload } from './bench/workload.ts';

/** `hgpo bench`: measures the workloads of src/cli/bench, a line each as soon as it is measured. */
export function benchCommand(terminal: Terminal): Command {
  return newCommand('bench', 'Measure workloads: median over repeats after warm-up, beside a peer where there is one.')
    .option('--only <id-or-prefix...>', 'ids, or prefixes that end at a dot (`estimators.hgpo`)', collect)
    .action(async (options: CommonOptions & { only?: string[] }) => {
      const only = options.only ?? [];
      let failed = 0;
      for (const workload of await selectWorkloads(only, terminal, options.seed)) {
        const place = workload.adapter === undefined ? workload.id : `${workload.id} on ${workload.adapter}`;
        terminal.say(`Measuring ${place}…`);
        try {
          const result = await measure(workload, () => performance.now());
          if (options.json) await terminal.out.line(result);
          else {
            const beside =
              result.ratio === null
                ? ''
                : `  ${cellText(result.ratio)} × ${result.peer} (${cellText(result.peerValue)} ${result.unit})`;
            const spread = `(${result.spread.map(cellText).join('–')}, ${result.repeats} runs)`;
            await terminal.out.write(`${place}  ${cellText(result.value)} ${result.unit} ${spread}${beside}\n`);
          }
          await terminal.out.flush();
        } catch (error) {
          failed++;
          terminal.say(`${place} failed: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
      if (failed > 0) terminal.setExitCode(1);
    });
}

/** @throws UsageError when a name of `--only` selects nothing; the sentence lists what there is. */
async function selectWorkloads(only: readonly string[], terminal: Terminal, seed: number): Promise<Workload[]> {
  const names = only.length === 0 ? Object.keys(areas) : [...new Set(only.map((name) => name.split('.')[0]!))];
  const selected: Workload[] = [];
  for (const name of names) {
    const load = Object.hasOwn(areas, name) ? areas[name] : undefined;
    if (!load)
      throw new UsageError(`bench: there is no area ${JSON.stringify(name)}; known: ${Object.keys(areas).join(', ')}.`);
    const all = await (await load()).workloads({ seed, say: (sentence) => terminal.say(sentence) });
    for (const one of only.filter((id) => id.split('.')[0] === name)) {
      if (!all.some(({ id }) => isSelected(id, [one]))) {
        const known = [...new Set(all.map(({ id }) => id))].join(', ');
        throw new UsageError(`bench: nothing is called ${JSON.stringify(one)}; ${name} has ${known}.`);
      }
    }
    selected.push(...all.filter(({ id }) => isSelected(id, only)));
  }
  return selected;
}
