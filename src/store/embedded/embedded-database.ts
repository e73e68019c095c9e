import type { Engine } from './engines.ts';

/** A database that lives as long as the process that started it. */
export interface EmbeddedDatabase {
  /** Connection string, with the database name `platen`. */
  readonly uri: string;
  readonly kind: Engine;
  readonly pid: number;
  /** Resolves when the database has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  /** Why it cannot write at present, a full disk above all; undefined when it can, or does not know. */
  problem(): string | undefined;
  /** Writes everything and ends it. */
  close(): Promise<void>;
}

/** No embedded database could be started; the message says why and what can be done. */
export class EmbeddedDatabaseError extends Error {
  /** Whether that is because another process has the data open. */
  readonly inUse: boolean;

  constructor(message: string, inUse = false) {
    super(message);
    this.name = 'EmbeddedDatabaseError';
    this.inUse = inUse;
  }
}
