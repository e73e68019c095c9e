import { Resolver, promises as systemDns } from 'node:dns';
import { Semaphore } from '../async/semaphore.ts';

/**
 * Every address a name has, IPv4 and IPv6, as text. Rejects with a `code` as node:dns does: ENOTFOUND or ENODATA when
 * there is none, anything else when it cannot be said.
 */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** Look-ups that the operating system does at a time. */
const SYSTEM_LOOKUPS = 2;
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA']);

/** Whether a look-up failed because the name does not exist, or has no address. */
export function isNoSuchName(error: unknown): boolean {
  return NO_SUCH_NAME.has(codeOf(error) ?? '');
}

/** Asks the name servers of `resolver` for A and AAAA records; one family is enough. */
export function resolverLookup(resolver: Resolver): Lookup {
  const ask = (name: string, family: 4 | 6) =>
    new Promise<readonly string[]>((resolve, reject) => {
      const done = (error: Error | null, addresses: string[]) => (error ? reject(error) : resolve(addresses));
      if (family === 4) resolver.resolve4(name, done);
      else resolver.resolve6(name, done);
    });

  return async (name) => {
    const results = await Promise.allSettled([ask(name, 4), ask(name, 6)]);
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
  const fromServers = resolverLookup(new Resolver({ timeout: 2000, tries: 2 }));
  const threads = new Semaphore(SYSTEM_LOOKUPS);
  const fromSystem: Lookup = (name) => threads.run(() => operatingSystemLookup(name));
  return async (name) => {
    if (!name.includes('.') || name.endsWith('.localhost')) return fromSystem(name);
    try {
      return await fromServers(name);
    } catch (error) {
      if (codeOf(error) === 'ETIMEOUT') throw error;
      return fromSystem(name);
    }
  };
}

function noAddress(name: string): Error {
  return Object.assign(new Error(`${name} has no address`), { code: 'ENODATA' });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
