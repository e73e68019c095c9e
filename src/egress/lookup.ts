import { Resolver, promises as systemDns } from 'node:dns';
import { inTurns, isTooMany, type LookupBounds } from './lookup-turns.ts';

/**
 * Every address a name has, IPv4 and IPv6, as text. Rejects with a `code` as node:dns does: ENOTFOUND or ENODATA when
 * there is none, anything else when it cannot be said, or `signal` has given it up.
 *
 * `asker` is the account on whose behalf it is asked, where that is known: see lookup-turns.ts.
 */
export type Lookup = (name: string, signal?: AbortSignal, asker?: string) => Promise<readonly string[]>;

/** As many as connections come through the egress proxy: whoever has one may wait for its look-up. */
const WAITING_OF_ONE = 2048;
/** The documents of all slots of a worker together ask for some dozens of names; a server that answers does so sooner. */
const BOUNDS: LookupBounds = { atATime: 64, ofOne: 16, waitingOfOne: WAITING_OF_ONE, slowMs: 500 };
/** One at a time holds one of the two threads that libuv has for look-ups, and nobody can end it. */
const SYSTEM_BOUNDS: LookupBounds = { atATime: 1, ofOne: 1, waitingOfOne: WAITING_OF_ONE };
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA']);
const TIMED_OUT = 'ETIMEOUT';

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
 * (names of the hosts file, single labels, `localhost`), one at a time of either kind: a name that servers answered to
 * leads back to them with search domains, and they may be slow on purpose; a single label cannot be.
 *
 * getaddrinfo alone would let one document that names fifty hosts with slow name servers hold all four libuv threads,
 * and with them every other customer's look-ups and file access, for minutes.
 *
 * @param open makes a resolver; default one that asks the machine's name servers.
 */
export function systemLookup(open = () => new Resolver({ timeout: 2000, tries: 2 })): Lookup {
  const fromServers = inTurns(resolverLookup(open), BOUNDS);
  const labels = inTurns(operatingSystemLookup, SYSTEM_BOUNDS);
  const unknownToServers = inTurns(operatingSystemLookup, SYSTEM_BOUNDS);
  return async (name, signal, asker) => {
    if (!name.includes('.') || name.endsWith('.localhost')) return labels(name, signal, asker);
    try {
      return await fromServers(name, signal, asker);
    } catch (error) {
      if (signal?.aborted || codeOf(error) === TIMED_OUT || isTooMany(error)) throw error;
      return unknownToServers(name, signal, asker);
    }
  };
}

function noAddress(name: string): Error {
  return Object.assign(new Error(`${name} has no address`), { code: 'ENODATA' });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
