/**
 * Keys of objects that have to be looked at. A key that is added while it waits is looked at once; one that is added while
 * it is looked at, once more afterwards. No key is looked at by two workers at a time.
 */
export interface WorkQueue {
  /** As soon as a worker is free and the rate allows. */
  add(key: string): void;

  /** Not before `delayMs` milliseconds have passed, unless it is added for earlier. */
  addAfter(key: string, delayMs: number): void;

  /** Keys that wait for a worker; those that wait for a time are not counted. */
  readonly length: number;

  /** Takes no further key, and resolves when those under way have ended. */
  stop(): Promise<void>;
}

/**
 * Looks at one object and does what has to be done. When it fails the key comes back after a back-off of its own, or when
 * the API server asks to.
 *
 * @returns milliseconds after which to look again; nothing when only a change needs it.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<number | undefined>;
