import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { CommandError } from './command-error.ts';

/** The operands and options of a command. @throws CommandError with the usage for options that it does not have. */
export function parseCommandLine<T extends ParseArgsOptionsConfig>(
  argv: readonly string[],
  options: T,
  usage: string,
) {
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
