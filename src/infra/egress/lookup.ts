import { Resolver, promises as systemDns } from 'node:dns';
import { isTooMany, type LookupBounds, LookupQueue } from '../scheduling/lookups.ts';

/**
 * Every address of a name, IPv4 and IPv6, as text. Rejects with a `code` as node:dns does: ENOTFOUND or ENODATA when
 * there is none, another one when the result is not known, or `signal` has aborted the lookup.
 *
 * `account` is the account whose document needs the name, where that is known: see scheduling/lookups.ts.
 */
export type Lookup = (name: string, signal?: AbortSignal, account?: string) => Promise<readonly string[]>;

/** As many as the egress proxy's connections: each of them may wait for a lookup. */
const MAX_WAITING_OF_ACCOUNT = 2048;
/** The documents of all slots of a worker together need some dozens of names; a working server responds sooner. */
const BOUNDS: LookupBounds = {
  concurrent: 64,
  concurrentOfAccount: 16,
  maxWaitingOfAccount: MAX_WAITING_OF_ACCOUNT,
  slowMs: 500,
};
/** Each lookup holds one of the two threads that libuv has for lookups, and cannot be aborted: one at a time. */
const SYSTEM_BOUNDS: LookupBounds = {
  concurrent: 1,
  concurrentOfAccount: 1,
  maxWaitingOfAccount: MAX_WAITING_OF_ACCOUNT,
};
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA']);
const TIMED_OUT = 'ETIMEOUT';

/** Whether a lookup failed because the name does not exist, or has no address. */
export function isNoSuchName(error: unknown): boolean {
  return NO_SUCH_NAME.has(codeOf(error) ?? '');
}

/**
 * Queries name servers for A and AAAA records; a response for one family is enough.
 *
 * @param open makes a resolver. Each lookup has its own, since a resolver aborts all its queries together.
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
    // If the query for one family failed, the name may still exist.
    throw errors.find((error) => !isNoSuchName(error)) ?? errors[0] ?? noAddress(name);
  };
}

/** Queries the operating system: hosts file, search domains and all. Each query holds one of libuv's few threads. */
const operatingSystemLookup: Lookup = async (name) => {
  const responses = await systemDns.lookup(name, { all: true, verbatim: true });
  return responses.map((response) => response.address);
};

/**
 * The default resolver. It queries name servers without a thread, and the operating system only for names that the
 * servers do not know (names of the hosts file, single labels, `localhost`). Single labels and other names have
 * separate queues, with one lookup at a time each: for the others the system queries the name servers again, with
 * search domains, and these may be slow on purpose; for a single label they cannot be.
 *
 * getaddrinfo alone would let one document that names 50 hosts with slow name servers hold all four libuv threads, and
 * with them every other customer's lookups and file access, for minutes.
 *
 * @param open makes a resolver; default one for the machine's name servers.
 */
export function systemLookup(open = () => new Resolver({ timeout: 2000, tries: 2 })): Lookup {
  const fromServers = queued(resolverLookup(open), BOUNDS);
  const labels = queued(operatingSystemLookup, SYSTEM_BOUNDS);
  const unknownToServers = queued(operatingSystemLookup, SYSTEM_BOUNDS);
  return async (name, signal, account) => {
    if (!name.includes('.') || name.endsWith('.localhost')) return labels(name, signal, account);
    try {
      return await fromServers(name, signal, account);
    } catch (error) {
      if (signal?.aborted || codeOf(error) === TIMED_OUT || isTooMany(error)) throw error;
      return unknownToServers(name, signal, account);
    }
  };
}

/** Shares the lookups of one kind fairly among accounts; of an unknown account, the name counts as one. */
export function queued(lookup: Lookup, bounds: LookupBounds): Lookup {
  const queue = new LookupQueue(bounds);
  return (name, signal, account) =>
    queue.run(account ?? `name ${name}`, () => lookup(name, signal, account), signal);
}

function noAddress(name: string): Error {
  return Object.assign(new Error(`${name} has no address`), { code: 'ENODATA' });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
