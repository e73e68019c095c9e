import { Resolver, promises as systemDns } from 'node:dns';
import { Semaphore } from '../async/semaphore.ts';

/**
 * Every address a name has, IPv4 and IPv6, as text. Rejects with a `code` as node:dns does: ENOTFOUND or ENODATA when
 * there is none, anything else when it cannot be said, or `signal` has given it up.
 */
export type Lookup = (name: string, signal?: AbortSignal) => Promise<readonly string[]>;

export interface LookupBounds {
  /** Names that are asked for at a time. */
  readonly atATime: number;
  /** Those that wait for their turn. */
  readonly waiting: number;
}

/** The documents of all slots of a worker together ask for some dozens. */
const BOUNDS: LookupBounds = { atATime: 64, waiting: 256 };
/** Look-ups that the operating system does at a time, and those that wait for it. */
const SYSTEM_LOOKUPS = 2;
const SYSTEM_WAITING = 64;
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA']);
const TIMED_OUT = 'ETIMEOUT';
const TOO_MANY = 'EBUSY';

/** Whether a look-up failed because the name does not exist, or has no address. */
export function isNoSuchName(error: unknown): boolean {
  return NO_SUCH_NAME.has(codeOf(error) ?? '');
}

/**
 * Asks name servers for A and AAAA records; one family is enough.
 *
 * @param open makes a resolver. Each look-up has its own, since all questions of one are given up together.
 */
export function resolverLookup(open: () => Resolver): Lookup {
  const ask = (resolver: Resolver, name: string, family: 4 | 6) =>
    new Promise<readonly string[]>((resolve, reject) => {
      const done = (error: Error | null, addresses: string[]) => (error ? reject(error) : resolve(addresses));
      if (family === 4) resolver.resolve4(name, done);
      else resolver.resolve6(name, done);
    });

  return async (name, signal) => {
    signal?.throwIfAborted();
    const resolver = open();
    const giveUp = () => resolver.cancel();
    signal?.addEventListener('abort', giveUp, { once: true });
    const results = await Promise.allSettled([ask(resolver, name, 4), ask(resolver, name, 6)]);
    signal?.removeEventListener('abort', giveUp);
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (addresses.length > 0) return addresses;
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    // A name whose other family could not be asked for may still exist.
    throw errors.find((error) => !isNoSuchName(error)) ?? errors[0] ?? noAddress(name);
  };
}

/** Asks the operating system: hosts file, search domains and all. Each question holds one of libuv's few threads. */
const operatingSystemLookup: Lookup = async (name) => {
  const answers = await systemDns.lookup(name, { all: true, verbatim: true });
  return answers.map((answer) => answer.address);
};

/**
 * The default: name servers are asked without a thread, and the operating system only for what they do not know
 * (names of the hosts file, single labels, `localhost`), two at a time.
 *
 * getaddrinfo alone would let one document that names fifty hosts with slow name servers hold all four libuv threads,
 * and with them every other customer's look-ups and file access, for minutes.
 */
export function systemLookup(): Lookup {
  const fromServers = boundedLookup(
    resolverLookup(() => new Resolver({ timeout: 2000, tries: 2 })),
    BOUNDS,
  );
  const bounds = { atATime: SYSTEM_LOOKUPS, waiting: SYSTEM_WAITING };
  const fromSystem = boundedLookup(operatingSystemLookup, bounds);
  return async (name, signal) => {
    if (!name.includes('.') || name.endsWith('.localhost')) return fromSystem(name, signal);
    try {
      return await fromServers(name, signal);
    } catch (error) {
      if (signal?.aborted || [TIMED_OUT, TOO_MANY].includes(codeOf(error) ?? '')) throw error;
      return fromSystem(name, signal);
    }
  };
}

/** A few at a time; the others wait, and who is given up leaves the queue. Past that it cannot be said: `EBUSY`. */
export function boundedLookup(lookup: Lookup, { atATime, waiting }: LookupBounds): Lookup {
  const turns = new Semaphore(atATime, { maxWaiting: waiting, full: tooMany });
  return (name, signal) => turns.run(() => lookup(name, signal), signal);
}

function tooMany(): Error {
  return Object.assign(new Error('Too many names are being looked up.'), { code: TOO_MANY });
}

function noAddress(name: string): Error {
  return Object.assign(new Error(`${name} has no address`), { code: 'ENODATA' });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
