import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { BY_BILLING } from '../../../src/tenants/audit/audit-log.ts';
import { pick, seeded } from '../../chaos/random.ts';
import { FAIR } from '../../support/stripe/deliverer.ts';
import type * as R from '../../support/stripe/records.ts';
import type { Problem } from '../../support/stripe/stand-in.ts';
import { BadConnection, problems } from './bad-connection.ts';
import { BlockOracle } from './block-oracle.ts';
import { type Life, type LifeRig, openLifeRig } from './life-rig.ts';
import { checkMirror, checkSubscription } from './subscription-oracle.ts';

/** make soak has 2,000. */
const RUNS = Number(process.env.BILLING_RUNS ?? 24);
const FIRST_SEED = Number(process.env.SEED ?? 1);
/** Concurrent lives, each in its own database: a life waits for its database half of the time. */
const AT_A_TIME = 3;
const ACTS = 9;
/** Requests that find the quota used up at the same moment. */
const AT_ONCE = 4;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Events come late, twice, in disorder or never. */
const STORM = { dropped: 0.2, doubled: 0.2, delayed: 0.4 };
/** Of all calls to Stripe. */
const FAILING = 0.03;
/** Longer than any retry, and than the time left to the process that makes a schedule. */
const LATER_MS = 15 * 60_000;
const PLANS = ['starter', 'professional', 'business'] as const;
const CARDS = ['good', 'declined', 'authenticates'] as const;
/** US cents a billing period: for one block or several. */
const CAPS = [1_000, 2_000, 5_000];

type Run = Life & {
  readonly random: () => number;
  readonly oracle: BlockOracle;
  readonly connection: BadConnection;
  /** Pages that the customer has got to see. */
  readonly pages: ReadonlySet<string>;
};

describe('Subscriptions and blocks, whatever happens to the events', function () {
  // Each run takes a quarter of a second, and more than half a second on a busy machine.
  this.timeout(1_200_000);
  const rigs: LifeRig[] = [];

  before(async () => {
    for (let i = 0; i < AT_A_TIME; i += 1) rigs.push(await openLifeRig());
  });
  after(async () => {
    for (const rig of rigs) await rig.close();
  });

  /** An action of a customer, an operator, a bank or time; rejections are as good as successes. */
  async function act(run: Run): Promise<void> {
    const { random, clock, standIn, selling, accountId } = run;
    const { acts, books } = standIn;
    const customerId = await selling.subscriptions.customerOf(accountId).catch(rejections);
    if (customerId === undefined) return;
    const here = ({ customer }: { customer: string | null }) => !books.customers.get(customer!)!.deleted;
    const subscriptions = [...books.subscriptions.values()].filter(here);
    const alive = subscriptions.filter(({ status }) => !['canceled', 'incomplete_expired'].includes(status));
    const open = [...books.invoices.values()].filter(here).filter(({ status }) => status === 'open');
    const paid = [...books.charges.values()].filter((charge) => charge.paid && here(charge));
    const disputed = [...books.disputes.values()].filter(
      ({ charge, status }) => status === 'needs_response' && here(books.charges.get(charge)!),
    );
    const deeds: readonly [weight: number, deed: () => unknown][] = [
      [3, () => clock.pass(Math.floor(random() * 20 * DAY_MS))],
      [2, () => clock.pass(31 * DAY_MS + 2 * HOUR_MS)],
      [2, () => here({ customer: customerId }) && acts.changeCard(customerId, pick(random, CARDS)!)],
      [3, () => selling.subscriptions.checkout(accountId, pick(random, PLANS)!)],
      [3, () => completeCheckout(run)],
      [1, () => selling.subscriptions.cancel(accountId)],
      [1, () => selling.subscriptions.resume(accountId)],
      [1, () => alive[0] && acts.cancelInPortal(alive[0].id)],
      [1, () => here({ customer: customerId }) && acts.subscribe(customerId, priceOf(run), { card: 'good' })],
      [1, () => payOpenInvoice(run, open)],
      [
        1,
        () =>
          alive[0] && acts.alter(alive[0].id, { pause_collection: { behavior: 'void', resumes_at: null } }),
      ],
      [1, () => selling.autoOverage.set(accountId, { enabled: random() < 0.5 }, BY_BILLING)],
      [3, () => letBuy(run)],
      [3, () => needMore(run)],
      [1, () => selling.blockCheckouts.buy(accountId, 1_000)],
      [1, () => disputeOne(run, paid)],
      [1, () => disputed[0] && acts.decideDispute(disputed[0].id, random() < 0.5 ? 'won' : 'lost')],
      [1, () => refundOne(run, paid)],
      [1, () => failRefund(run)],
      [0.3, () => atStripe(run, () => selling.gateway.stripe.customers.del(customerId))],
    ];
    let drawn = random() * deeds.reduce((sum, [weight]) => sum + weight, 0);
    const deed = deeds.find(([weight]) => {
      drawn -= weight;
      return drawn < 0;
    })!;
    await Promise.resolve(deed[1]()).catch(rejections);
    standIn.catchUp();
  }

  function rejections(error: unknown): undefined {
    if (!(error instanceof PlatenError)) throw error;
  }

  /** By an operator, at Stripe itself. */
  async function atStripe({ connection }: Run, call: () => Promise<unknown>): Promise<void> {
    const { chance } = connection;
    connection.chance = 0;
    await call().finally(() => {
      connection.chance = chance;
    });
  }

  /** Requests at once from a customer that sees the plan in force and needs more. */
  async function letBuy(run: Run): Promise<void> {
    const { random, selling, accountId } = run;
    await selling.sync.checkAt(accountId);
    const settings = { enabled: true, capCents: pick(random, CAPS) };
    await selling.autoOverage.set(accountId, settings, BY_BILLING).catch(rejections);
    await needMore(run);
  }

  /** Uses the quota up, and requests more, many times at once. */
  async function needMore({ oracle }: Run): Promise<void> {
    await oracle.useUp();
    await oracle.request(AT_ONCE);
  }

  function payOpenInvoice({ random, standIn }: Run, open: readonly R.Invoice[]): void {
    const invoice = pick(random, open);
    if (invoice !== undefined) standIn.acts.payHostedInvoice(invoice.id, pick(random, CARDS)!);
  }

  function disputeOne({ random, standIn }: Run, paid: readonly R.Charge[]): void {
    const charge = pick(
      random,
      paid.filter(({ disputed }) => !disputed),
    );
    if (charge !== undefined) standIn.acts.dispute(charge.id);
  }

  /** All of a payment, or a part. */
  async function refundOne(run: Run, paid: readonly R.Charge[]): Promise<void> {
    const { random, selling } = run;
    const charge = pick(
      random,
      paid.filter(({ refunded }) => !refunded),
    );
    if (charge === undefined) return;
    const left = charge.amount - charge.amount_refunded;
    const part = random() < 0.5 ? {} : { amount: 1 + Math.floor(random() * left) };
    await atStripe(run, () => selling.gateway.stripe.refunds.create({ charge: charge.id, ...part }));
  }

  /** A bank does not take a refund. */
  function failRefund({ random, standIn }: Run): void {
    const { refunds, charges, customers } = standIn.books;
    const refund = [...refunds.values()].find(
      ({ status, charge }) =>
        status === 'succeeded' && !customers.get(charges.get(charge)!.customer!)!.deleted,
    );
    if (refund !== undefined) standIn.acts.failRefund(refund.id, { lowers: random() < 0.5 });
  }

  function completeCheckout({ standIn, random, pages }: Run): void {
    const { sessions, customers } = standIn.books;
    const open = [...sessions.values()].filter(
      ({ id, status, customer }) => pages.has(id) && status === 'open' && !customers.get(customer)!.deleted,
    );
    const session = pick(random, open);
    if (session !== undefined) standIn.acts.completeCheckout(session.id, pick(random, CARDS)!);
  }

  function priceOf({ standIn, random }: Run): string {
    const prices = [...standIn.books.prices.values()].filter(({ recurring }) => recurring !== null);
    return pick(random, prices)!.id;
  }

  /** Two dispatchers at once. */
  async function follow({ selling }: Run): Promise<void> {
    await selling.events.resolveWaiting();
    await Promise.all([selling.sync.sweep(), selling.sync.sweep()]);
    await Promise.all([selling.blockPurchases.sweep(), selling.blockPurchases.sweep()]);
  }

  async function storm(run: Run): Promise<void> {
    const { random, deliverer, selling, standIn, accountId } = run;
    await selling.subscriptions.checkout(accountId, pick(random, PLANS)!).catch(rejections);
    completeCheckout(run);
    await letBuy(run);
    for (let count = 0; count < ACTS; count += 1) {
      // Events are on their way while something is done, and are followed while others come.
      await Promise.all([deliverer.deliver(), act(run)]);
      if (random() < 0.5) await follow(run);
    }
    standIn.catchUp();
  }

  const statesOf = async ({ oracle }: Run) =>
    (await oracle.blocks()).map(({ _id, state }) => `${_id} ${state}`).join();

  /** When blocks that could not be continued are due again; Stripe rejects calls for a deleted customer. */
  async function triedAgainAt({ oracle }: Run): Promise<Date | undefined> {
    const held = (await oracle.blocks()).filter(
      ({ failures = 0, dueAt }) => failures > 0 && dueAt !== undefined,
    );
    return held.map(({ dueAt }) => dueAt).sort((a, b) => b!.getTime() - a!.getTime())[0];
  }

  /** Everything has come; what was lost was found. */
  async function settle(run: Run): Promise<void> {
    const { deliverer, clock, selling, standIn, connection } = run;
    deliverer.weather = FAIR;
    connection.chance = 0;
    // Failed checks are repeated later.
    clock.pass(LATER_MS);
    standIn.catchUp();
    for (let round = 0; round < 20; round += 1) {
      await deliverer.deliverAll();
      await selling.reconcile.events();
      await selling.reconcile.schedules();
      await selling.reconcile.customers();
      const before = await statesOf(run);
      await follow(run);
      // Changed blocks are checked once more: their payments may have been refunded meanwhile.
      const rest = (await statesOf(run)) === before;
      const quiet = (await selling.sync.sweep()) === 0 && rest && deliverer.waiting === 0;
      const later = await triedAgainAt(run);
      if (quiet && halfMade(run).length === 0 && later === undefined) return;
      if (later !== undefined) clock.pass(Math.max(0, later.getTime() - clock.now().getTime()));
      clock.pass(1_000);
    }
    assert.fail('it does not come to rest');
  }

  /** Pages whose address Stripe has returned: only these can be paid. */
  function pagesOf({ standIn }: Life): ReadonlySet<string> {
    const reported = new Set<string>();
    standIn.onResponse = ({ method, route }, { status, body }) => {
      if (method === 'POST' && route === '/v1/checkout/sessions' && status === 200)
        reported.add((body as R.CheckoutSession).id);
    };
    return reported;
  }

  /** Schedules whose next phase was never added. */
  function halfMade({ standIn }: Life): R.Schedule[] {
    const { schedules } = standIn.books;
    return [...schedules.values()].filter(({ status, phases }) => status === 'active' && phases.length < 2);
  }

  /** @returns the problems that the connection to Stripe had. */
  async function live(seed: number, rig: LifeRig): Promise<ReadonlyMap<Problem, number>> {
    const random = seeded(seed);
    const life = await rig.begin({ random, weather: STORM });
    const run = {
      ...{ random, ...life, oracle: new BlockOracle(life, rig), pages: pagesOf(life) },
      connection: new BadConnection(life.standIn, seed, FAILING),
    };
    try {
      await storm(run);
      await settle(run);
      // The oracle.
      await checkSubscription(run, rig);
      await checkMirror(run);
      await run.oracle.check();
      return run.connection.drawn;
    } catch (error) {
      throw new Error(`SEED=${seed} BILLING_RUNS=1: ${(error as Error).message}`, { cause: error });
    } finally {
      await run.end();
    }
  }

  it(`end in the state of a fresh check, ${RUNS} times`, async () => {
    const drawn: Partial<Record<Problem, number>> = {};
    let next = FIRST_SEED;
    const liveOn = async (rig: LifeRig) => {
      while (next < FIRST_SEED + RUNS) {
        const seed = next;
        next += 1;
        for (const [problem, count] of await live(seed, rig)) drawn[problem] = (drawn[problem] ?? 0) + count;
      }
    };
    await Promise.all(rigs.map(liveOn));
    // Each problem has occurred, and often.
    if (RUNS < 100) return;
    for (const problem of problems)
      assert.ok((drawn[problem] ?? 0) > RUNS / 10, `${problem}: ${drawn[problem]}`);
  });
});
