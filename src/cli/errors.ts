/** Input that cannot be used: one sentence for the person at the terminal, exit code 2, no stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Whoever reads our output has gone (`| head`): the command stops quietly, which is no error. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}
