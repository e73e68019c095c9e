import assert from 'node:assert/strict';
import { syncSubscription } from '../../../src/billing/subscriptions/entitlement.ts';
import type { Life, LifeRig } from './life-rig.ts';

/** Checks that the stored state of a subscription equals a fresh check, and that repairs are done. */
export async function checkSubscription(life: Life, rig: LifeRig): Promise<void> {
  const { selling, billing, clock, accountId } = life;
  // The account knows that its customer was deleted, and has removed it.
  const { customerId = life.customerId, state } = (await billing.store.find(accountId))!;
  const customer = await selling.gateway.customer(customerId);
  const fresh = syncSubscription(customer, { now: clock.now(), isPlan: (name) => rig.plans.has(name) });
  const { checkAgainAt: _, ...kept } = state!;
  const { checkAgainAt: __, ...expected } = fresh;
  assert.deepEqual(kept, expected);
  const { plan, quotaWindow } = (await rig.accounts.find(accountId))!;
  assert.equal(plan, fresh.inForce);
  assert.deepEqual(quotaWindow ?? null, fresh.quota);
  assert.deepEqual(fresh.duplicates, []);
  assert.deepEqual(fresh.invoicesToVoid, []);
}

/** The mirror shows the invoices that there are. */
export async function checkMirror({ billing, standIn, accountId }: Life): Promise<void> {
  const { invoices } = await billing.mirror.list(accountId, {
    ...{ sort: 'created_asc', limit: 100, offset: 0 },
  });
  const theirs = [...standIn.books.invoices.values()];
  const shown = (rows: readonly (readonly [string, string, number])[]) => rows.map(String).sort();
  assert.deepEqual(
    shown(invoices.map(({ _id, status, amountPaidCents }) => [_id, status, amountPaidCents])),
    shown(theirs.map(({ id, status, amount_paid }) => [id, status, amount_paid])),
  );
}
