import { Option, type Command } from 'commander';
import { methodNames } from '../estimators/registry.ts';
import { environmentNames, resolveSettings, SettingsError } from '../estimators/settings.ts';
import { ClusterExportError, verlAgentScript } from '../training/cluster/verl-agent.ts';
import { newCommand, wholeNumber, type CommonOptions, type Terminal } from './command.ts';
import { UsageError } from './errors.ts';

interface ExportConfigOptions extends CommonOptions {
  readonly target: string;
  readonly method: string;
  readonly env: string;
  readonly preset?: string;
  readonly options: string;
  readonly memory: number;
}

/** `hgpo export-config`: the chosen method as a launch script for a cluster. */
export function exportConfigCommand(terminal: Terminal): Command {
  return newCommand('export-config', 'Write a launch script that trains the same method on a cluster.')
    .addOption(new Option('--target <name>', 'the code that will run').choices(['verl-agent']).default('verl-agent'))
    .addOption(new Option('--method <name>', 'the method').choices(methodNames).default('hgpo'))
    .addOption(
      new Option('--env <name>', 'rooms (ALFWorld) or shop (WebShop)').choices(environmentNames).default('rooms'),
    )
    .option('--preset <name>', 'paper or reference')
    .option('--options <json>', 'options of the method, as for `estimate`', '{}')
    .option('--memory <steps>', 'history length of the prompt', wholeNumber, 2)
    .action(async (options: ExportConfigOptions) => {
      try {
        const settings = resolveSettings({
          method: options.method,
          environment: options.env,
          preset: options.preset,
          options: { K: options.memory, ...parseOptions(options.options) },
        });
        const script = verlAgentScript({ settings, memory: options.memory, seed: options.seed });
        if (options.json) await terminal.out.line({ target: options.target, method: options.method, script });
        else await terminal.out.write(script);
      } catch (error) {
        if (error instanceof SettingsError || error instanceof ClusterExportError) throw new UsageError(error.message);
        throw error;
      }
    });
}

function parseOptions(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below, the same way as for JSON that is no object.
  }
  throw new UsageError(`--options takes a JSON object such as {"alpha": 2}, not ${text.slice(0, 60)}.`);
}
