import { LRUCache } from 'lru-cache';
import type { RenderNeeds } from '../../options/core/option.ts';

/** How long an account has a dedicated browser after its document has exceeded a limit. Milliseconds. */
const DEDICATED_MS = 600_000;
const REMEMBERED_ACCOUNTS = 10_000;
/** The parts of an account's blame amount to one, within the precision of their sum. */
const ALL_BLAME = 0.999;

/** What decides about a document by itself. */
export interface DocumentNeeds {
  /** Whether it runs no script. */
  readonly still: boolean;
  readonly needs: Pick<RenderNeeds, 'dedicatedBrowser'>;
}

/**
 * Decides which renders do not share a browser with all others. A request that is paused, for its headers or for a
 * policy, is reported with its whole body; a document that sends a large body keeps its browser busy for seconds with
 * building one message of it, or ends it. So documents with script whose requests are paused use a browser that only
 * renders of the same account share; and an account whose document has exceeded a limit has a browser to itself for ten
 * minutes.
 */
export class DedicatedPages {
  readonly #accounts: LRUCache<string, true>;
  /** The part of the blame for what has befallen shared browsers that each account has, where 1 is all of it. */
  readonly #blame: LRUCache<string, number>;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    const remembered = { max: REMEMBERED_ACCOUNTS, ttl: DEDICATED_MS, ttlResolution: 0, perf: { now } };
    this.#accounts = new LRUCache(remembered);
    this.#blame = new LRUCache(remembered);
  }

  /** Notes that a document of the account has exceeded a limit. */
  note(accountId: string): void {
    this.#accounts.set(accountId, true);
  }

  /**
   * Notes that a document of one of the accounts, it is not known which, has made a process useless to all others of its
   * browser. Each has the same part of the blame; an account whose parts amount to one gets a browser to itself.
   */
  suspect(accountIds: readonly string[]): void {
    for (const accountId of accountIds) {
      const blame = (this.#blame.get(accountId) ?? 0) + 1 / accountIds.length;
      this.#blame.set(accountId, blame);
      if (blame >= ALL_BLAME) this.note(accountId);
    }
  }

  /** The group that a document shares a browser with; undefined for a shared browser. */
  groupOf(accountId: string, { still, needs }: DocumentNeeds): string | undefined {
    if (this.#accounts.has(accountId)) return `account ${accountId}`;
    // Without script a document sends no body by itself.
    return needs.dedicatedBrowser && !still ? `paused ${accountId}` : undefined;
  }
}
