import type { Signatory } from './check-cms.ts';
import type { Timestamp } from './timestamp.ts';

/** Of PAdES (ETSI EN 319 142-1). */
export const LEVELS = ['B-B', 'B-T', 'B-LT'] as const;

/** What a render asks for, as the option `seal` has checked it. */
export interface Seal {
  readonly key: { readonly digestUrl?: string | undefined; readonly keyId?: string | undefined };
  readonly level?: (typeof LEVELS)[number] | undefined;
  readonly timestampUrl?: string | undefined;
}

/** What is told of a seal. */
export interface SealFacts extends Signatory {
  readonly level: (typeof LEVELS)[number];
  /** Of levels B-T and B-LT. */
  readonly timestamp?: Timestamp;
}

/** Names of keys, which are names of files too. */
export const KEY_ID = /^[a-z0-9][a-z0-9._-]*$/;
