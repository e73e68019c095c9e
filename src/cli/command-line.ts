import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { CommandError } from './command-error.ts';

/** Words that ask for the usage, of a command and of the program. */
export const HELP: ReadonlySet<string> = new Set(['--help', '-h']);

/** @throws CommandError with the usage, for which a process ends with 0, if it is asked for. */
export function giveHelp(argv: readonly string[], usage: string): void {
  if (argv.some((word) => HELP.has(word))) throw new CommandError(usage, 0);
}

/** The operands and options of a command. @throws CommandError with the usage, for `--help` and for options that it does not have. */
export function parseCommandLine<T extends ParseArgsOptionsConfig>(
  argv: readonly string[],
  options: T,
  usage: string,
) {
  giveHelp(argv, usage);
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, strict: true, options });
  } catch (error) {
    throw misused((error as Error).message, usage);
  }
}

/** The error for a command line that a command does not understand. */
export function misused(message: string, usage: string): CommandError {
  return new CommandError(`${message}\n\n${usage}`);
}
