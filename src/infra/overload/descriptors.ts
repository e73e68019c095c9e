import { openSync, readdirSync, readSync } from 'node:fs';
import { every } from '../async/every.ts';
import type { Logger } from '../telemetry/logger.ts';

const CHECK_EVERY_MS = 1000;
/** The share of the limit at which an operator is told, and the share below which it is good news. */
const NEAR = 0.8;
const FAR = 0.7;

/** What a process has open, of what it may have open. */
export interface Descriptors {
  readonly open: number;
  /** The limit of this process: `ulimit -n`, which Node raises to the hard limit when it starts. */
  readonly limit: number;
}

/** Stays open, because when there is no descriptor left the limit is to be read all the same. */
let limits: number | undefined;

/** @returns undefined where the system does not tell: it is Linux that does. */
export function descriptorLimit(): number | undefined {
  try {
    limits ??= openSync('/proc/self/limits', 'r');
    const text = Buffer.alloc(4096);
    const length = readSync(limits, text, 0, text.length, 0);
    const [, limit] = /^Max open files +(\d+) /m.exec(text.toString('latin1', 0, length)) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/**
 * Logs when the open file descriptors of this process near their limit, and when there are none left: the kernel then
 * lets no connection in, of which neither Node nor its caller says anything.
 */
export class DescriptorWatch {
  readonly #logger: Pick<Logger, 'warn' | 'error' | 'info'>;
  readonly #count: () => Descriptors | undefined;
  #state: 'far' | 'near' | 'out' = 'far';
  #end = () => {};

  /** @param count replaces the look at this process, for tests. */
  constructor(logger: Pick<Logger, 'warn' | 'error' | 'info'>, count = countDescriptors) {
    this.#logger = logger;
    this.#count = count;
  }

  start(): void {
    this.check();
    this.#end = every(CHECK_EVERY_MS, () => this.check());
  }

  stop(): void {
    this.#end();
  }

  check(): void {
    const found = this.#count();
    if (found === undefined) return;
    const state = this.#stateOf(found);
    if (state === this.#state) return;
    const before = this.#state;
    this.#state = state;
    if (state === 'out')
      this.#logger.error(
        found,
        'no file descriptor is left (EMFILE): connections are reset, files cannot be opened',
      );
    else if (state === 'near' && before === 'far')
      this.#logger.warn(found, 'the open file descriptors near their limit (ulimit -n)');
    else if (state === 'near') this.#logger.warn(found, 'there are a few file descriptors again');
    else this.#logger.info(found, 'there are enough file descriptors again');
  }

  #stateOf({ open, limit }: Descriptors): 'far' | 'near' | 'out' {
    if (open >= limit) return 'out';
    const share = open / limit;
    if (share >= NEAR) return 'near';
    return share < FAR || this.#state === 'far' ? 'far' : 'near';
  }
}

function countDescriptors(): Descriptors | undefined {
  const limit = descriptorLimit();
  if (limit === undefined) return undefined;
  try {
    return { open: readdirSync('/proc/self/fd').length, limit };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EMFILE' ? { open: limit, limit } : undefined;
  }
}
