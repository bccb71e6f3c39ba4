import { Option, type Command } from 'commander';
import { ClusterExportError, verlAgentScript } from '../training/cluster/verl-agent.ts';
import { newCommand, wholeNumber, type CommonOptions, type Terminal } from './command.ts';
import { UsageError } from './errors.ts';
import { optionsOf, settingsOf, withEstimatorOptions, type EstimatorOptions } from './settings.ts';

interface ExportConfigOptions extends CommonOptions, EstimatorOptions {
  readonly target: string;
  readonly memory?: number;
}

/** `hgpo export-config`: the chosen method as a launch script for a cluster. */
export function exportConfigCommand(terminal: Terminal): Command {
  return withEstimatorOptions(
    newCommand('export-config', 'Write a launch script that trains the same method on a cluster.')
      .addOption(new Option('--target <name>', 'the code that will run').choices(['verl-agent']).default('verl-agent'))
      .option('--method <name>', 'the method', 'hgpo')
      .option('--memory <K>', 'history length of the prompt (default: the option K)', wholeNumber),
  ).action(async (options: ExportConfigOptions) => {
    // The public recipe has one length for both, so either says the other.
    const depth = Object.hasOwn(optionsOf(options), 'K') ? options.history : options.memory;
    const settings = settingsOf({ ...options, ...(depth === undefined ? {} : { history: depth }) });
    const memory = options.memory ?? settings.K;
    try {
      const script = verlAgentScript({ settings, memory, seed: options.seed });
      if (options.json) await terminal.out.line({ target: options.target, method: settings.method, script });
      else await terminal.out.write(script);
    } catch (error) {
      if (error instanceof ClusterExportError) throw new UsageError(error.message);
      throw error;
    }
  });
}
