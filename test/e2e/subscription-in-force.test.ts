import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { FOLLOW_EVERY_MS } from '../../src/billing/billing-sweeps.ts';
import { setUpStripe } from '../../src/billing/setup.ts';
import { StripeGateway } from '../../src/billing/stripe/stripe-gateway.ts';
import { EVENT_TYPES } from '../../src/billing/subscriptions/payment-events.ts';
import { systemClock } from '../../src/infra/clock.ts';
import { connectDatabase } from '../../src/infra/store/connection.ts';
import { ACCOUNT_CACHE_MS } from '../../src/tenants/accounts/account-store.ts';
import { DEFAULT_PLANS } from '../../src/tenants/plans/plan.ts';
import { BUILT_IN, HeldPlans } from '../../src/tenants/plans/plan-source.ts';
import { type AccountClient, signUp } from '../support/account-client.ts';
import { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { Deliverer } from '../support/stripe/deliverer.ts';
import { StripeStandIn } from '../support/stripe/stand-in.ts';
import { openTwins, type Twins } from '../support/twins.ts';

const SECRET = 'whsec_for_tests';
/** From an event until it is in force everywhere. */
const IN_FORCE_MS = 2000;
const POOL = 'dedicated';

describe('A subscription that changes, with the event at one process and its account at another', () => {
  let standIn: StripeStandIn;
  let gateway: StripeGateway;
  let deliverer: Deliverer;
  let twins: Twins;
  let owner: AccountClient;
  let caller: TestClient;
  let customerId: string;
  let changes = 0;

  before(async () => {
    standIn = new StripeStandIn({ clock: systemClock });
    const base = await standIn.listen();
    gateway = new StripeGateway({ secretKey: standIn.secretKey, apiBase: base });
    twins = await openTwins(
      { poolRef: POOL },
      // As it is by default: the twins of other tests sweep more often.
      { PLATEN_SWEEP_MS: '1000' },
      // The other one can neither ask Stripe nor follow anything.
      { STRIPE_SECRET_KEY: standIn.secretKey, STRIPE_WEBHOOK_SECRET: SECRET, STRIPE_API_BASE: base },
    );
    const [hearing, other] = twins.roles;
    await setUpStripe(gateway, new HeldPlans(BUILT_IN), `${hearing.url}/webhooks/payments`);
    deliverer = new Deliverer({
      ...{ standIn, secret: SECRET, random: () => 0.5, types: new Set<string>(EVENT_TYPES) },
      async post(payload, signature) {
        const headers = { 'payments-signature': signature };
        const response = await fetch(`${hearing.url}/webhooks/payments`, {
          method: 'POST',
          body: payload,
          headers,
        });
        await response.body?.cancel();
        return response.status;
      },
    });
    owner = await signUp(other.url);
    const { apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name: 'mine' });
    caller = new TestClient(other.url, apiKey);
  });
  after(async () => {
    await twins?.stop();
    await standIn?.close();
  });

  const plan = async () => (await owner.expect(200, 'GET', '/user/usage')).plan;

  /** Delivers what has happened, and waits until the other process has it in force: quota, limits and pool. */
  async function inForce(expected: 'free' | 'starter' | 'professional'): Promise<void> {
    await deliverer.deliverAll();
    // Asked for all the time, so that the other process always has the account at hand as it was.
    await eventually(`${expected} is in force`, async () => (await plan()) === expected);
    changes += 1;
    const usage = await owner.expect(200, 'GET', '/user/usage');
    const { monthlyRenders, requestsPerMinute, concurrentRenders } = DEFAULT_PLANS[expected];
    assert.equal(usage.requestsPerMinute, requestsPerMinute);
    assert.equal(usage.concurrentRenders, concurrentRenders);
    assert.ok(usage.remaining <= monthlyRenders && usage.remaining > monthlyRenders - 20);
    assert.equal(await poolOfNewJob(), expected === 'professional' ? POOL : 'default');
  }

  async function poolOfNewJob(): Promise<string> {
    const connection = await connectDatabase(twins.mongodbUri, pino({ level: 'silent' }));
    // It has not ended before it is looked at: it would be elsewhere then.
    const jobId = await caller.submit({ html: '<p>x</p>', options: { delayMs: 10_000 } });
    const job = await connection.collection<{ _id: string; pool: string }>('jobs').findOne({ _id: jobId });
    await connection.close();
    await caller.call('DELETE', `/v1/pdf/jobs/${jobId}`);
    return job!.pool;
  }

  const subscription = () => [...standIn.books.subscriptions.values()].at(-1)!;
  const price = (of: string) =>
    [...standIn.books.prices.values()].find(({ metadata }) => metadata.platen_plan === of)!.id;

  it('is in force at the other after the event, and not before it', async () => {
    assert.equal(await plan(), 'free');
    const { url } = twins.roles[0];
    await owner.at(url).expect(200, 'POST', '/user/checkout', { plan: 'professional' });
    const page = [...standIn.books.sessions.values()].find(({ status }) => status === 'open')!;
    customerId = page.customer;
    standIn.acts.completeCheckout(page.id);
    await sleep(IN_FORCE_MS);
    assert.equal(await plan(), 'free', 'nobody has told of it');
    await inForce('professional');
    for (const next of ['starter', 'professional', 'starter'] as const) {
      await gateway.stripe.subscriptions.cancel(subscription().id, { invoice_now: false, prorate: false });
      await inForce('free');
      standIn.acts.subscribe(customerId, price(next), { card: 'good' });
      await inForce(next);
    }
    let entries: { actor: string; details: { cause: string } }[] = [];
    // The last of them a moment after the plan is in force.
    await eventually('an entry for each change', async () => {
      ({ entries } = await owner.expect(200, 'GET', '/user/audit-log?action=account.plan_changed'));
      return entries.length >= changes;
    });
    assert.equal(entries.length, changes);
    for (const { actor, details } of entries) {
      assert.equal(actor, 'billing');
      assert.ok(
        EVENT_TYPES.some((type) => type === details.cause),
        details.cause,
      );
    }
  });

  it('is so within two seconds, by the times that its steps wait at most', () => {
    // A mark is followed within the one, and an account that is at hand is asked for anew within the other.
    assert.ok(FOLLOW_EVERY_MS + ACCOUNT_CACHE_MS <= IN_FORCE_MS - 500);
  });
});
