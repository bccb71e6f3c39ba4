import { Command, InvalidArgumentError } from 'commander';
import type { Output } from './output.ts';

/** What every command takes. */
export interface CommonOptions {
  readonly json?: true;
  readonly seed: number;
}

/** Where a command reads from and writes to; tests pass their own. */
export interface Terminal {
  readonly out: Output;
  /** A sentence or a progress line for the person at the terminal; never part of the result. */
  say(sentence: string): void;
  /** Bytes of standard input, for a file named `-`. */
  readonly input: AsyncIterable<Uint8Array>;
  /** 0 done, 1 a check failed, 2 bad input. */
  setExitCode(code: 0 | 1 | 2): void;
}

/** A subcommand with the options that all of them have. */
export function newCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'JSON lines on standard output and nothing else there')
    .option('--seed <integer>', 'seed of every random draw', seed, 0);
}

function seed(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0) {
    throw new InvalidArgumentError('It must be a whole number from 0 to 2^53 - 1.');
  }
  return value;
}

/** An option that may be given several times, or once with several values. */
export const collect = (value: string, before: readonly string[] | undefined): string[] => [...(before ?? []), value];

/** Whole numbers from 0, for options such as `--history`. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0) {
    throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  }
  return value;
}

/** Finite numbers, for options such as `--alpha`. */
export function finiteNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

/** Positive numbers, for options such as `--temperature`. */
export function positiveNumber(text: string): number {
  const value = finiteNumber(text);
  if (value <= 0) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}
