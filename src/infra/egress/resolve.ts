import { within } from '../async/timeout.ts';
import { unlessAborted } from '../async/unless-aborted.ts';
import type { AddressPolicy } from './address-policy.ts';
import { EgressError } from './errors.ts';
import { type Host, isLocalhost, type Target } from './host.ts';
import { isNoSuchName, type Lookup } from './lookup.ts';

interface ResolveOptions {
  readonly policy: AddressPolicy;
  readonly lookup: Lookup;
  /** Longest wait for the name servers, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborts the lookup. */
  readonly signal?: AbortSignal;
  /** The account whose document needs the name. */
  readonly account?: string | undefined;
}

/** The most addresses that are tried; a name may have hundreds. */
const MAX_ADDRESSES = 8;

/**
 * The addresses that a connection to `target` may be made to: looked up once, each one checked.
 *
 * One forbidden address rejects the name: a name with a public and a private address is a trap, never an accident. The
 * result is for this one connection, which must use the addresses and not the name.
 *
 * @throws EgressError
 */
export async function resolveChecked(target: Target, options: ResolveOptions): Promise<readonly string[]> {
  const { host, port } = target;
  const addresses = host.kind === 'address' ? [host.text] : await lookUp(host.text, options);
  for (const address of addresses) {
    const verdict = options.policy.check(address, port);
    if (!verdict.allowed) {
      throw rejection(host, `${address}: ${verdict.reason}`);
    }
  }
  return addresses.slice(0, MAX_ADDRESSES);
}

/** An address is rejected without a name server. For a name, the report would reveal that the name exists. */
function rejection(host: Host, detail: string): EgressError {
  if (host.kind === 'address' || isLocalhost(host.text)) {
    return new EgressError('blocked', `${host.text} may not be reached.`, detail);
  }
  return new EgressError('unresolvable', noHost(host.text), detail, { refused: true });
}

/** What customers are told of a name that does not exist, or may not be reached. */
export function noHost(name: string): string {
  return `There is no host called ${name}.`;
}

async function lookUp(
  name: string,
  { lookup, timeoutMs, signal, account }: ResolveOptions,
): Promise<readonly string[]> {
  const ended = new AbortController();
  const given = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  try {
    const addresses = await within(
      timeoutMs,
      'The look-up',
      unlessAborted(given, lookup(name, given, account)),
    );
    if (addresses.length > 0) return addresses;
  } catch (error) {
    if (!isNoSuchName(error)) {
      throw new EgressError('unreachable', `${name} could not be looked up.`, String(error), {
        cause: error,
      });
    }
  } finally {
    // Aborts lookups that have taken too long.
    ended.abort();
  }
  throw new EgressError('unresolvable', noHost(name), 'no address records');
}
