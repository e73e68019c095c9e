import { within } from '../async/timeout.ts';
import type { AddressPolicy } from './address-policy.ts';
import { EgressError } from './errors.ts';
import type { Target } from './host.ts';
import { isNoSuchName, type Lookup } from './lookup.ts';

export interface ResolveOptions {
  readonly policy: AddressPolicy;
  readonly lookup: Lookup;
  /** Longest wait for the name servers, in milliseconds. */
  readonly timeoutMs: number;
}

/** So many addresses are tried at most; a name may have hundreds. */
const MAX_ADDRESSES = 8;

/**
 * The addresses that a connection to `target` may be made to: looked up once, each one checked.
 *
 * One refused address refuses the name: a name with a public and a private address is a trap, never an accident.
 * The answer is for this one connection; whoever connects must use these addresses and not the name.
 *
 * @throws EgressError
 */
export async function resolveChecked(target: Target, options: ResolveOptions): Promise<readonly string[]> {
  const { host, port } = target;
  const addresses =
    host.kind === 'address' ? [host.text] : await lookUp(host.text, options.lookup, options.timeoutMs);
  for (const address of addresses) {
    const verdict = options.policy.check(address, port);
    if (!verdict.allowed) {
      throw new EgressError('blocked', `${host.text} may not be reached.`, `${address}: ${verdict.reason}`);
    }
  }
  return addresses.slice(0, MAX_ADDRESSES);
}

async function lookUp(name: string, lookup: Lookup, timeoutMs: number): Promise<readonly string[]> {
  try {
    const addresses = await within(timeoutMs, 'The look-up', lookup(name));
    if (addresses.length > 0) return addresses;
  } catch (error) {
    if (!isNoSuchName(error)) {
      throw new EgressError('unreachable', `${name} could not be looked up.`, String(error), error);
    }
  }
  throw new EgressError('unresolvable', `There is no host called ${name}.`, 'no address records');
}
