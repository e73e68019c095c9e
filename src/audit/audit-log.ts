import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { type CountedWindows, type OpenWindow, WindowCounter } from '../limits/fixed-window.ts';
import { namedUuid } from '../named-uuid.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import type { Logger } from '../telemetry/logger.ts';

export const AUDIT_ACTIONS = [
  'account.registered',
  'account.signed_in',
  'account.sign_in_failed',
  'account.signed_out',
  'account.plan_changed',
  'account.quota_period_changed',
  'account.password_reset',
  'account.tokens_revoked',
  'billing.auto_overage_changed',
  'billing.block_granted',
  'billing.block_frozen',
  'billing.block_taken_back',
  'billing.block_returned',
  'billing.block_expired',
  'key.created',
  'key.rotated',
  'key.revoked',
  'webhook_key.rotated',
  'template.saved',
  'template.deleted',
  'audit.entries_left_out',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who did it: the account itself, somebody who has not shown to be it, whoever operates the service, or its billing. */
export const AUDIT_ACTORS = ['account', 'anonymous', 'operator', 'billing'] as const;
export type AuditActor = (typeof AUDIT_ACTORS)[number];

/** Who does something, and from where. */
export interface DoneBy {
  readonly actor: AuditActor;
  /** The client's address; undefined on the command line, or when the connection is gone already. */
  readonly ipAddress?: string | undefined;
}
/** By whoever operates the service: on the command line, or by how it is configured. */
export const BY_OPERATOR: DoneBy = { actor: 'operator' };
/** By what the payment provider says of the account's subscription and payments. */
export const BY_BILLING: DoneBy = { actor: 'billing' };
/** By the account itself. */
export function byAccount(ipAddress: string | undefined): DoneBy {
  return { actor: 'account', ipAddress };
}

export interface AuditEntry {
  readonly _id: string;
  /** Null for what concerns no account, such as a sign-in to an address that has none. */
  readonly accountId: string | null;
  readonly action: AuditAction;
  readonly actor: AuditActor;
  /** The client's address; null on the command line. */
  readonly ipAddress: string | null;
  /** The key, template or block that it was about. */
  readonly targetId: string | null;
  readonly details: Readonly<Record<string, string>>;
  readonly at: Date;
}

/** What is kept of an entry that stands for others: how many, which grows. */
interface StoredEntry extends AuditEntry {
  readonly leftOut?: number;
}

/** Entries of one action that are written in a day (UTC); the others are counted in one that says so. */
export interface AuditBounds {
  readonly perAccount: number;
  /** For what concerns no account. */
  readonly ofNobody: number;
}

export interface AuditQuery {
  readonly action?: AuditAction | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

export interface AuditEvent extends DoneBy, Pick<AuditEntry, 'accountId' | 'action'> {
  readonly targetId?: string;
  readonly details?: Readonly<Record<string, string>>;
}

/**
 * A change that billing has made and that is not in the log yet. It stands in the record that was changed, written by the same
 * update: whoever comes by after a crash finds it there and records it.
 */
export interface UnrecordedChange extends Pick<AuditEntry, 'action' | 'details' | 'at'> {
  /** Names the change by its cause: recorded again it is the same entry. */
  readonly id: string;
  readonly targetId?: string;
}

const BOUNDS: AuditBounds = { perAccount: 500, ofNobody: 10_000 };
const KEPT_MS = 400 * 24 * 3_600_000;

const ENTRIES: CollectionSpec = {
  name: 'audit_log',
  // Unique, as the id in them is: the embedded database reads parts of such indexes alone (docs/decisions/0178).
  indexes: [
    { fields: { accountId: 1, at: 1, _id: 1 }, unique: true },
    { fields: { at: 1, _id: 1 }, unique: true },
  ],
  replaced: [{ accountId: 1, at: -1, _id: -1 }, { at: 1 }],
  looksAt: { asked: ['action'], because: 'entries of one account, of what people do: a few a day' },
};

/** Entries of one action of one account in a day, by `<account>:<action>`. */
const COUNTS: CountedWindows = {
  spec: { name: 'audit_counts', indexes: [{ fields: { endsAt: 1 } }] },
  fields: { count: 'entries', end: 'endsAt' },
  lengthMs: 24 * 3_600_000,
};

/**
 * Owns the record of what was done to accounts. Entries are added, read, and after 400 days deleted; never changed, but for
 * those that say how many others were left out.
 */
export class AuditLog {
  readonly #entries: Collection<StoredEntry>;
  readonly #counts: WindowCounter;
  readonly #bounds: AuditBounds;
  readonly #clock: Clock;
  readonly #logger: Logger;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection, clock: Clock, logger: Logger, bounds = BOUNDS) {
    this.#entries = new Collection(connection, ENTRIES);
    this.#counts = new WindowCounter(connection, clock, COUNTS);
    this.#bounds = bounds;
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * Durable when it resolves. Never fails: what it records has happened already, and its answer may hold a secret that
   * is shown once. An entry that cannot be written goes to the process's log instead.
   */
  async record(event: AuditEvent): Promise<void> {
    const { accountId, action, actor, ipAddress = null, targetId = null, details = {} } = event;
    const at = this.#clock.now();
    const entry: AuditEntry = {
      _id: randomUUID(),
      accountId,
      action,
      actor,
      ipAddress,
      targetId,
      details,
      at,
    };
    try {
      const day = await this.#dayThatIsFull(entry);
      if (day === undefined) await this.#entries.insert(entry);
      else await this.#leaveOut(entry, day);
    } catch (error) {
      this.#logger.error({ err: error, entry }, 'audit entry could not be written');
    }
  }

  /**
   * Records what billing has changed; once, however often it is told. Durable when it resolves.
   *
   * @throws when it cannot be written: it is to be told again then.
   */
  async recordOnce(accountId: string, change: UnrecordedChange): Promise<void> {
    const { id, action, targetId = null, details, at } = change;
    await this.#entries.insertIfAbsent({
      ...{ _id: namedUuid(accountId, id), accountId, action, ...BY_BILLING },
      ...{ ipAddress: null, targetId, details, at },
    });
  }

  async list(accountId: string, query: AuditQuery): Promise<{ total: number; entries: AuditEntry[] }> {
    const filter = { accountId, ...(query.action === undefined ? {} : { action: query.action }) };
    const direction = query.newestFirst ? -1 : 1;
    const [total, entries] = await Promise.all([
      this.#entries.count(filter),
      this.#entries.find(filter, {
        sort: { at: direction, _id: direction },
        skip: query.offset,
        limit: query.limit,
      }),
    ]);
    return { total, entries: entries.map(asShown) };
  }

  /**
   * Counts an entry. What the account or a stranger does is bounded, by action, so that a flood of one hides no other; an
   * operator and the billing do what is seldom done.
   *
   * @returns the day, when it has as many as it may.
   */
  async #dayThatIsFull({ accountId, action, actor }: AuditEntry): Promise<OpenWindow | undefined> {
    if (actor === 'operator' || actor === 'billing') return undefined;
    const day = this.#counts.window(`${accountId ?? 'nobody'}:${action}`);
    const bound = accountId === null ? this.#bounds.ofNobody : this.#bounds.perAccount;
    return (await this.#counts.add(day, 1)) > bound ? day : undefined;
  }

  /** One entry for all of a day that are of one action, at the time of the first. */
  async #leaveOut({ accountId, action, actor, at }: AuditEntry, day: OpenWindow): Promise<void> {
    const said = { accountId, actor, ipAddress: null, targetId: null, details: { action }, at };
    await this.#entries.upsert(namedUuid('left out', day.id), {
      $inc: { leftOut: 1 },
      $setOnInsert: { action: 'audit.entries_left_out', ...said },
    });
  }

  /** @returns how many entries there were. */
  async deleteOld(now: Date): Promise<number> {
    await this.#counts.deleteEnded(now);
    const before = new Date(now.getTime() - KEPT_MS);
    return this.#entries.deleteMany({ at: { $lt: before } });
  }
}

function asShown({ leftOut, details, ...entry }: StoredEntry): AuditEntry {
  return { ...entry, details: leftOut === undefined ? details : { ...details, entries: `${leftOut}` } };
}
