import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { namedUuid } from '../../infra/ids/named-uuid.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { type CountedWindows, type OpenWindow, WindowCounter } from '../../infra/store/fixed-window.ts';
import { beyond, type KeysetPage } from '../../infra/store/keyset.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';

export const AUDIT_ACTIONS = [
  'account.registered',
  'account.signed_in',
  'account.sign_in_failed',
  'account.signed_out',
  'account.plan_changed',
  'account.quota_period_changed',
  'account.password_reset',
  'account.tokens_revoked',
  'account.address_confirmed',
  'account.taken_over',
  'account.owner_changed',
  'account.renamed',
  'account.second_factor_required',
  'account.request_details_changed',
  'second_factor.added',
  'second_factor.removed',
  'passkey.added',
  'passkey.removed',
  'account.suspended',
  'account.resumed',
  'account.deletion_requested',
  'account.deleted',
  'billing.subscription_cancelled',
  'billing.subscription_resumed',
  'billing.plan_change_scheduled',
  'billing.plan_change_withdrawn',
  'billing.auto_overage_changed',
  'billing.block_granted',
  'billing.block_frozen',
  'billing.block_taken_back',
  'billing.block_returned',
  'billing.block_expired',
  'domain.claimed',
  'domain.verified',
  'domain.changed',
  'domain.removed',
  'member.invited',
  'member.invitation_revoked',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'key.created',
  'key.rotated',
  'key.changed',
  'key.revoked',
  'webhook_key.rotated',
  'notifications.changed',
  'template.saved',
  'template.deleted',
  'render.shared',
  'render.share_revoked',
  'job.retried',
  'job.cancelled',
  'callback.retried',
  'mail.retried',
  'billing.retried',
  'worker.drained',
  'worker.resumed',
  'audit.entries_left_out',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who did what an entry tells: the account, an unauthenticated caller, the operator of the service, or its billing. */
export const AUDIT_ACTORS = ['account', 'anonymous', 'operator', 'billing'] as const;
export type AuditActor = (typeof AUDIT_ACTORS)[number];

/** The actor of a change, and its address. */
export interface DoneBy {
  readonly actor: AuditActor;
  /** The client's IP address; undefined on the command line, or when the connection is closed already. */
  readonly ipAddress?: string | undefined;
  /** The person who acted for the account; absent when it is not known. */
  readonly personId?: string | undefined;
  /** Who of the operators it was. Shown to operators alone. */
  readonly operator?: string | undefined;
}
/** By the operator of the service, on the command line or in the configuration. */
export const BY_OPERATOR: DoneBy = { actor: 'operator' };
/** By the payment provider's state of the account's subscription and payments. */
export const BY_BILLING: DoneBy = { actor: 'billing' };
/** By a person who acts for the account. @param personId absent where the credential shows none, as a mailed link. */
export function byAccount(ipAddress: string | undefined, personId?: string): DoneBy {
  return { actor: 'account', ipAddress, ...(personId !== undefined && { personId }) };
}

export interface AuditEntry {
  readonly _id: string;
  /** Null for an event without an account, such as a sign-in with an address that has none. */
  readonly accountId: string | null;
  readonly action: AuditAction;
  readonly actor: AuditActor;
  /** The person who acted for the account; null when it is not known, or was nobody of the account. */
  readonly personId: string | null;
  /** The client's address; null on the command line. */
  readonly ipAddress: string | null;
  /** The key, template, render or block that it was about. */
  readonly targetId: string | null;
  readonly details: Readonly<Record<string, string>>;
  readonly at: Date;
}

/** What an operator did by the administration, and who it was. */
export interface OperatorEntry extends AuditEntry {
  readonly operator: string;
}

/** An entry may stand for others that were left out: `leftOut` counts them. */
interface StoredEntry extends Omit<AuditEntry, 'personId'> {
  readonly personId?: string | null;
  readonly leftOut?: number;
  /** As in `DoneBy`; absent for whatever no operator did by the administration. */
  readonly operator?: string;
}

/** Entries of one action that are written in a day (UTC); further entries are counted in one summary entry. */
interface AuditBounds {
  readonly perAccount: number;
  /** For events without an account. */
  readonly withoutAccount: number;
}

interface AuditQuery {
  readonly action?: AuditAction | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

interface AuditEvent extends DoneBy, Pick<AuditEntry, 'accountId' | 'action'> {
  readonly targetId?: string;
  readonly details?: Readonly<Record<string, string>>;
}

/**
 * A change by billing that is not in the log yet. It is stored in the changed record, by the same update, so that after
 * a crash any process finds it there and records it.
 */
export interface UnrecordedChange extends Pick<AuditEntry, 'action' | 'details' | 'at'> {
  /** Names the change by its cause, so that recording it again does not add an entry. */
  readonly id: string;
  readonly targetId?: string;
}

const BOUNDS: AuditBounds = { perAccount: 500, withoutAccount: 10_000 };
const KEPT_MS = 400 * 24 * 3_600_000;

const ENTRIES: CollectionSpec = {
  name: 'audit_log',
  account: 'accountId',
  // Unique because they contain the id: the embedded database reads only parts of a unique index (docs/decisions/0178).
  indexes: [
    { fields: { accountId: 1, at: 1, _id: 1 }, unique: 'embedded' },
    { fields: { at: 1, _id: 1 }, unique: 'embedded' },
    { fields: { operator: 1 }, sparse: true },
  ],
  filtersBy: {
    fields: ['action', 'operator', '$or', 'sort at, _id'],
    reason: 'one account has a few entries a day, and so have the operators',
  },
};

/** Entries of one action of one account in a day, by `<account>:<action>`. */
const COUNTS: CountedWindows = {
  spec: { name: 'audit_counts', account: 'prefix', indexes: [{ fields: { endsAt: 1 } }] },
  fields: { count: 'entries', end: 'endsAt' },
  lengthMs: 24 * 3_600_000,
};

/**
 * Owns the log of changes to accounts. Entries are added, read, and after 400 days deleted. They are never changed,
 * except the summary entries that count how many others were left out.
 */
export class AuditLog {
  readonly #entries: Collection<StoredEntry>;
  readonly #counts: WindowCounter;
  readonly #bounds: AuditBounds;
  readonly #clock: Clock;
  readonly #logger: Logger;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock, logger: Logger, bounds = BOUNDS) {
    this.#entries = new Collection(connection, ENTRIES);
    this.#counts = new WindowCounter(connection, clock, COUNTS);
    this.#bounds = bounds;
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * Records an event; durable when it resolves. Never rejects: the event has happened already, and the caller's
   * response may contain a secret that is shown once. An entry that cannot be written goes to the process's log
   * instead.
   */
  async record(event: AuditEvent): Promise<void> {
    const { accountId, action, actor, operator, personId } = event;
    const { ipAddress = null, targetId = null, details = {} } = event;
    const at = this.#clock.now();
    const entry: StoredEntry = {
      ...(operator !== undefined && { operator }),
      ...(personId !== undefined && { personId }),
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
      const day = await this.#exhaustedDay(entry);
      if (day === undefined) await this.#entries.insert(entry);
      else await this.#leaveOut(entry, day);
    } catch (error) {
      this.#logger.error({ err: error, entry }, 'audit entry could not be written');
    }
  }

  /**
   * Records a change by billing; recording it again does not add an entry. Durable when it resolves.
   *
   * @throws when the entry cannot be written: the change is to be recorded again then.
   */
  async recordOnce(accountId: string, change: UnrecordedChange): Promise<void> {
    const { id, action, targetId = null, details, at } = change;
    await this.#entries.insertIfAbsent({
      ...{ _id: namedUuid(accountId, id), accountId, action, ...BY_BILLING },
      ...{ ipAddress: null, targetId, details, at },
    });
  }

  /**
   * Records that an account is deleted, after its own entries are: the account's id and who has deleted it are all that
   * stays. Recording it again does not add an entry.
   *
   * @param id names the deletion.
   * @throws when the entry cannot be written.
   */
  async recordDeletion(id: string, accountId: string, { actor, operator }: DoneBy): Promise<void> {
    await this.#entries.insertIfAbsent({
      ...{ _id: id, accountId, action: 'account.deleted', actor },
      ...(operator !== undefined && { operator }),
      ...{ ipAddress: null, targetId: null, details: {}, at: this.#clock.now() },
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

  /** What operators did by the administration, the newest first. */
  async operatorEntries(page: KeysetPage): Promise<OperatorEntry[]> {
    const filter = { operator: { $gte: '' }, ...beyond<StoredEntry>('at', page) };
    const { limit } = page;
    return (await this.#entries.find(filter, { sort: { at: -1, _id: -1 }, limit })) as OperatorEntry[];
  }

  /**
   * Counts an entry. Entries by the account or by unauthenticated callers are bounded for each action, so that a flood
   * of one action hides no other; entries by the operator and by billing are rare.
   *
   * @returns the day when its bound is exceeded.
   */
  async #exhaustedDay({ accountId, action, actor }: StoredEntry): Promise<OpenWindow | undefined> {
    if (actor === 'operator' || actor === 'billing') return undefined;
    const day = this.#counts.window(`${accountId ?? 'nobody'}:${action}`);
    const bound = accountId === null ? this.#bounds.withoutAccount : this.#bounds.perAccount;
    return (await this.#counts.add(day, 1)) > bound ? day : undefined;
  }

  /** Counts the entry in the day's summary entry of its action, which has the time of the first entry left out. */
  async #leaveOut({ accountId, action, actor, at }: StoredEntry, day: OpenWindow): Promise<void> {
    const summary = { accountId, actor, ipAddress: null, targetId: null, details: { action }, at };
    await this.#entries.upsert(namedUuid('left out', day.id), {
      $inc: { leftOut: 1 },
      $setOnInsert: { action: 'audit.entries_left_out', ...summary },
    });
  }

  /** @returns the number of deleted entries. */
  async deleteOld(now: Date): Promise<number> {
    await this.#counts.deleteExpired(now);
    const before = new Date(now.getTime() - KEPT_MS);
    return this.#entries.deleteMany({ at: { $lt: before } });
  }
}

function asShown({ leftOut, operator: _, personId = null, details, ...entry }: StoredEntry): AuditEntry {
  return {
    ...entry,
    personId,
    details: leftOut === undefined ? details : { ...details, entries: `${leftOut}` },
  };
}
