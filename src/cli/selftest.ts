import type { Command } from 'commander';
import { newCommand, type CommonOptions, type Terminal } from './command.ts';
import { UsageError } from './errors.ts';

/** `hgpo selftest`: every kernel against its f64 twin on this machine's adapter; exit code 1 when one fails. */
export function selftestCommand(terminal: Terminal): Command {
  return newCommand('selftest', 'Compare every GPU kernel with its plain twin on this machine.').action(
    async (options: CommonOptions) => {
      // Loaded here, so that no other command loads the GPU package.
      const [{ openNodeGpu }, { GpuUnavailableError }, { trainingKernelTests }, { selfTest }] = await Promise.all([
        import('../gpu/node.ts'),
        import('../gpu/device.ts'),
        import('../training/sound-kernels.ts'),
        import('../gpu/selftest.ts'),
      ]);
      const gpu = await openNodeGpu().catch((error: unknown) => {
        throw error instanceof GpuUnavailableError ? new UsageError(`selftest: ${error.message}`) : error;
      });
      terminal.say(`Testing ${gpu.adapter.name} (${gpu.adapter.featureLevel})…`);
      let failed = 0;
      try {
        for (const test of trainingKernelTests) {
          const result = await selfTest(gpu, test, options.seed + 1);
          if (!result.pass) failed++;
          const { kernel, cases, maxAbsError, maxRelError, pass, failure } = result;
          if (options.json) await terminal.out.line(result);
          else {
            const errors = `largest error ${maxAbsError.toExponential(1)}, relative ${maxRelError.toExponential(1)}`;
            const verdict = pass ? 'ok' : `FAILED: ${failure}`;
            await terminal.out.write(
              `${kernel.padEnd(18)} ${String(cases).padStart(2)} cases  ${errors}  ${verdict}\n`,
            );
          }
          await terminal.out.flush();
        }
      } finally {
        gpu.destroy();
      }
      if (failed > 0) {
        terminal.say(`${failed} kernels failed on this adapter: do not train on it.`);
        terminal.setExitCode(1);
      }
    },
  );
}
