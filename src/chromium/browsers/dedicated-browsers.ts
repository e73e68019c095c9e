import { LRUCache } from 'lru-cache';
import type { JobDocument } from '../render/document/job-document.ts';

/** For so long an account is apart after its document has gone past a bound. Milliseconds. */
const DEDICATED_MS = 600_000;
const REMEMBERED_ACCOUNTS = 10_000;

/**
 * Which renders do not share a browser with all others. A request that is paused, for its headers or for a policy, is told
 * of with its whole body, and a document that sends a large one keeps its browser busy for seconds with making one
 * message of it, or ends it. So documents with script whose requests are paused have a browser that only those of the same
 * account share; and an account whose document has gone past a bound has one to itself for ten minutes.
 */
export class DedicatedPages {
  readonly #accounts: LRUCache<string, true>;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#accounts = new LRUCache({
      max: REMEMBERED_ACCOUNTS,
      ttl: DEDICATED_MS,
      ttlResolution: 0,
      perf: { now },
    });
  }

  /** A document of the account has gone past a bound. */
  note(accountId: string): void {
    this.#accounts.set(accountId, true);
  }

  /** Those it shares a browser with; undefined for everybody. */
  groupOf(accountId: string, { still, needs }: Pick<JobDocument, 'still' | 'needs'>): string | undefined {
    if (this.#accounts.has(accountId)) return `account ${accountId}`;
    // Without script nothing sends a body by itself.
    return needs.dedicatedBrowser && !still ? `paused ${accountId}` : undefined;
  }
}
