import { Command, CommanderError } from 'commander';

/** Input that cannot be used: one sentence for the person at the terminal, exit code 2, no stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Runs one command of the command line and sets the exit code: 0 done, 1 a check failed, 2 bad input. */
export async function main(args: readonly string[]): Promise<void> {
  const program = new Command('hgpo')
    .description('Group-based credit assignment on rollouts, from the command line.')
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 2;
      return;
    }
    throw error;
  }
}
