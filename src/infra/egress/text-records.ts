import { Resolver } from 'node:dns';
import { within } from '../async/timeout.ts';
import { type LookupBounds, LookupQueue } from '../scheduling/lookups.ts';
import { isNoSuchName } from './lookup.ts';

/**
 * The TXT records of a name; none when it has none or does not exist.
 *
 * @param account for which it is looked up: accounts are served in rotation.
 * @throws Error when the name servers cannot be asked, or take too long.
 */
export type LookupText = (name: string, account: string) => Promise<readonly string[]>;

const BOUNDS: LookupBounds = { concurrent: 8, concurrentOfAccount: 1, maxWaitingOfAccount: 5 };
/** How long one look-up may take, in milliseconds. */
const TIMEOUT_MS = 5000;

/** Asks the machine's name servers. @param open makes a resolver. */
export function textLookup(open = () => new Resolver({ timeout: 2000, tries: 2 })): LookupText {
  const queue = new LookupQueue(BOUNDS);
  return (name, account) =>
    queue.run(account, async () => {
      const resolver = open();
      const asked = new Promise<readonly string[]>((resolve, reject) => {
        resolver.resolveTxt(name, (error, records) =>
          // A record is as many strings as it needs (RFC 7208, section 3.3).
          error ? reject(error) : resolve(records.map((strings) => strings.join(''))),
        );
      });
      try {
        return await within(TIMEOUT_MS, 'The look-up', asked);
      } catch (error) {
        if (isNoSuchName(error)) return [];
        throw error;
      } finally {
        resolver.cancel();
      }
    });
}
