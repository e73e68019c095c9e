import type { Engine } from './engines.ts';

/** A database that lives as long as the process that started it. */
export interface EmbeddedDatabase {
  /** Connection string of a socket that other users of the machine cannot reach, with the database name `platen`. */
  readonly uri: string;
  readonly kind: Engine;
  readonly pid: number;
  /** Resolves when the database has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  /** Why it cannot write at present, for example a full disk; undefined when it can, or the reason is not known. */
  problem(): string | undefined;
  /** Whether an acknowledged write is in its file only a moment later, unless `flushDatabase` has been waited for. */
  readonly writesBehind: boolean;
  /** Writes all data and stops it. */
  close(): Promise<void>;
}

/** No embedded database could be started; the message says why, and how to solve it. */
export class EmbeddedDatabaseError extends Error {
  /** Whether the reason is that another process has the data open. */
  readonly inUse: boolean;
  /** What solves it; undefined when the message says so, or another engine may. */
  readonly remedy: string | undefined;

  constructor(message: string, { inUse = false, remedy }: { inUse?: boolean; remedy?: string } = {}) {
    super(message);
    this.name = 'EmbeddedDatabaseError';
    this.inUse = inUse;
    this.remedy = remedy;
  }
}

/** What Linux, Node and the JVM say of a process that may not open one more file, whatever it was for. */
const OUT_OF_DESCRIPTORS = /EMFILE|Too many open files|create a child event loop/i;

/** The error for a reason that a database has given for not starting. */
export function startError(message: string): EmbeddedDatabaseError {
  if (!OUT_OF_DESCRIPTORS.test(message)) return new EmbeddedDatabaseError(message);
  const remedy =
    'Raise the limit of open files (`ulimit -n`): 1,024 are enough for every part of the service.';
  return new EmbeddedDatabaseError(`too few open files are allowed here: ${message}`, { remedy });
}
