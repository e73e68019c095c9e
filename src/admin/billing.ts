import { z } from 'zod';
import type { Block } from '../billing/blocks/block-store.ts';
import type { BillingAccount } from '../billing/subscriptions/billing-store.ts';
import type { WaitingEvent } from '../billing/subscriptions/payment-events.ts';
import { PlatenError } from '../infra/errors/registry.ts';
import type { DoneBy } from '../tenants/audit/audit-log.ts';
import type { AdminCore } from './admin-core.ts';
import { type Page, type RequestedPage, readCursor, readPage, writeCursor } from './cursor.ts';

/** Payment events whose customer is not found, purchases that are not settled, and subscriptions with a problem. */
export const PROBLEM_KINDS = ['events', 'purchases', 'subscriptions'] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** Something of billing that may need an operator. */
export interface BillingProblem {
  /** The event, the block or the account. */
  readonly id: string;
  readonly accountId: string | null;
  readonly state: string;
  readonly problems: readonly string[];
  /** Failures in a row. */
  readonly failures: number;
  readonly nextAttemptAt: string | null;
}

/** More blocks than are bought or disputed at a time. */
const MOST_PURCHASES = 1000;
/** Accounts that one request for a page looks through. */
const LOOKED_THROUGH = 2000;
const AT_ONCE = 500;
/** Statuses of subscriptions that are as they should be. */
const GOOD = new Set(['none', 'active', 'trialing', 'canceled']);

/** Shows the problems of billing and tries again, for the operators of an installation. */
export class BillingAdmin {
  readonly #core: AdminCore;

  constructor(core: AdminCore) {
    this.#core = core;
  }

  /** A page may have fewer rows than asked for, or none, and another page after it. */
  async list(kind: ProblemKind, requested: RequestedPage): Promise<Page<BillingProblem>> {
    const { blocks, selling } = this.#core.billing;
    switch (kind) {
      case 'events': {
        if (selling === undefined) return { rows: [], cursor: null };
        const page = await readPage(
          requested,
          (at) => selling.events.waiting(at),
          ({ dueAt }) => dueAt!,
        );
        return { ...page, rows: page.rows.map(eventProblem) };
      }
      case 'purchases':
        return { rows: (await blocks.unsettled(MOST_PURCHASES)).map(purchaseProblem), cursor: null };
      case 'subscriptions':
        return this.#subscriptions(requested);
    }
  }

  /** Reads the provider's state again, now. @throws PlatenError NOT_FOUND; BILLING_NOT_CONFIGURED */
  async retry(kind: ProblemKind, id: string, by: DoneBy): Promise<void> {
    const { store, blocks, selling } = this.#core.billing;
    if (selling === undefined) throw new PlatenError('BILLING_NOT_CONFIGURED');
    const accountId =
      kind === 'events'
        ? (await selling.events.retry(id)) && null
        : kind === 'purchases'
          ? (await blocks.retry(id))?.accountId
          : (await store.wantAccount(id, 'operator'))
            ? id
            : undefined;
    if (accountId === undefined)
      throw new PlatenError('NOT_FOUND', `There is nothing to try again of ${kind} ${id}.`);
    await this.#core.audit.record({
      accountId,
      action: 'billing.retried',
      ...by,
      targetId: id,
      details: { kind },
    });
  }

  /** Through all customers in the order of their ids; few have a problem, and none has an index. */
  async #subscriptions({ cursor, limit }: RequestedPage): Promise<Page<BillingProblem>> {
    const { store } = this.#core.billing;
    let after = cursor === undefined ? '' : readCursor(cursor, z.string().max(200));
    const rows: BillingProblem[] = [];
    for (let seen = 0; seen < LOOKED_THROUGH; ) {
      const accounts = await store.after(after, AT_ONCE);
      for (const account of accounts) {
        after = account._id;
        const problem = subscriptionProblem(account);
        if (problem !== undefined) rows.push(problem);
        if (rows.length === limit) return { rows, cursor: writeCursor(after) };
      }
      if (accounts.length < AT_ONCE) return { rows, cursor: null };
      seen += accounts.length;
    }
    return { rows, cursor: writeCursor(after) };
  }
}

function eventProblem({ _id, type, kind, failures = 0, dueAt }: WaitingEvent): BillingProblem {
  const problems = [`the customer of its ${kind} is not known yet`];
  return {
    id: _id,
    accountId: null,
    state: type,
    problems,
    failures,
    nextAttemptAt: dueAt?.toISOString() ?? null,
  };
}

function purchaseProblem({ _id, accountId, state, failures = 0, attempts, dueAt }: Block): BillingProblem {
  const problems = [
    ...(attempts > 0 ? [`the provider has failed or refused ${attempts} times`] : []),
    ...(state === 'action_required' ? ['the bank waits for the customer'] : []),
    ...(state === 'frozen' ? ['its payment is in dispute'] : []),
  ];
  return { id: _id, accountId, state, problems, failures, nextAttemptAt: dueAt?.toISOString() ?? null };
}

function subscriptionProblem({
  _id,
  state,
  failures = 0,
  dueAt,
}: BillingAccount): BillingProblem | undefined {
  const problems = [...(state?.problems ?? [])];
  const { status = 'none', duplicates = [], graceEndsAt = null } = state ?? {};
  if (!GOOD.has(status)) problems.push(`its status is ${status}`);
  if (duplicates.length > 0) problems.push(`${duplicates.length} more subscriptions run`);
  if (graceEndsAt !== null) problems.push(`its grace ends at ${graceEndsAt.toISOString()}`);
  if (state?.halfMadeSince !== undefined) problems.push('its schedule is half-made');
  if (failures > 0) problems.push('its state could not be read');
  if (problems.length === 0) return undefined;
  return {
    id: _id,
    accountId: _id,
    state: status,
    problems,
    failures,
    nextAttemptAt: dueAt?.toISOString() ?? null,
  };
}
