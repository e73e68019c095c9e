import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setUpStripe } from '../../../src/billing/setup.ts';
import { LEASE_MS } from '../../../src/infra/store/due-queue.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { signUp } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import type { Reply } from '../../support/send.ts';
import { StripeStandIn } from '../../support/stripe/stand-in.ts';
import { openApi, type TestApi, TestCaller } from '../http/support/api.ts';
import type { ApiProcessOptions, Death, FromApiProcess, ToApiProcess } from './api-process.ts';
import { POINTS_OF_A_BLOCK } from './points-of-a-block.ts';

const PROCESS = fileURLToPath(new URL('api-process.ts', import.meta.url));
/** Longer than a block is left to a silent dispatcher. */
const AHEAD_MS = LEASE_MS;
const QUOTA = 2;
const UNITS = 1000;
const PRICE = 1000;
/** In all; make soak has 200. */
const REQUESTS = Number(process.env.REQUESTS ?? 16);
const HTML = { html: '<p>x</p>' };
const COME_AGAIN_MS = 500;
/** How long a request waits for a purchase by default, in milliseconds. */
const WAIT_MS = 10_000;
const SHORT_WAIT_MS = 500;
const DRAFTED = { when: 'after', operation: 'draft' } as const;

interface ApiProcess {
  readonly url: string;
  /** Resolves with the signal that has ended it. */
  readonly ended: Promise<NodeJS.Signals | null>;
  /** Whether it continues blocks, and how many milliseconds more than ten seconds requests wait for that. */
  configure(changes: Partial<ToApiProcess>): void;
  end(): Promise<void>;
}

interface Buyer {
  readonly accountId: string;
  readonly customerId: string;
  readonly period: ReturnType<typeof quotaPeriod>;
  /** At the process with this address. */
  readonly at: (url: string) => TestCaller;
}

/** The final response to a request, and the responses before. */
interface Outcome {
  readonly response: Reply;
  readonly earlier: readonly Reply[];
}

describe('Requests at the moment the quota ends, in two API processes of which one is killed', () => {
  let uri: string;
  let api: TestApi;
  let standIn: StripeStandIn;
  let apiBase: string;
  let survivor: ApiProcess;
  let victim: ApiProcess | undefined;
  /** Requests that were told to retry, each counted once. */
  let reportedOnce: number;

  before(async () => {
    ({ uri } = await startMongo());
    standIn = new StripeStandIn({ clock: { now: () => api?.domain.clock.now() ?? new Date() } });
    apiBase = await standIn.listen();
    api = await openApi({
      uri,
      plan: { monthlyRenders: QUOTA },
      billing: { STRIPE_SECRET_KEY: standIn.secretKey, STRIPE_API_BASE: apiBase },
    });
    await setUpStripe(api.billing.selling!.gateway, api.plans, `${api.url}/webhooks/payments`);
    survivor = await start(AHEAD_MS);
  });
  after(async () => {
    await survivor?.end();
    await api?.close();
    await standIn?.close();
  });
  afterEach(async () => {
    survivor.configure({ dispatches: false });
    await victim?.end();
  });

  async function start(aheadMs: number, death?: Death): Promise<ApiProcess> {
    const { secretKey } = standIn;
    const options: ApiProcessOptions = { uri, apiBase, secretKey, quota: QUOTA, aheadMs, death };
    const child: ChildProcess = fork(PROCESS, [JSON.stringify(options)]);
    const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null);
    const [reported] = (await Promise.race([
      once(child, 'message'),
      ended.then((signal) => Promise.reject(new Error(`It ended at once: ${signal}`))),
    ])) as [FromApiProcess];
    return {
      url: reported.url,
      ended,
      configure: ({ dispatches = false, waitsLongerMs = 0 }) =>
        void child.send({ dispatches, waitsLongerMs } satisfies ToApiProcess),
      async end() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }

  /** An account that has paid for a plan, has used up its quota, and lets one block be bought. */
  async function usedUp(): Promise<Buyer> {
    reportedOnce = 0;
    const owner = await signUp(api.url);
    const accountId: string = (await owner.expect(200, 'GET', '/auth/me')).id;
    const { id, apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name: 'mine' });
    await owner.expect(200, 'POST', '/user/checkout', { plan: 'professional' });
    const page = [...standIn.books.sessions.values()].findLast(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(page.id);
    await api.billing.selling!.sync.checkAt(accountId);
    const settings = { enabled: true, spendCapCents: PRICE };
    await owner.expect(200, 'POST', '/user/subscription/auto-overage', settings);
    const { quotaWindow } = (await api.accounts.find(accountId))!;
    const period = quotaPeriod(api.domain.clock.now(), quotaWindow);
    await api.domain.connection
      .collection<{ _id: string }>('ledgers')
      .updateOne({ _id: accountId }, { $set: { [`quota.${period}`]: QUOTA } });
    const at = (url: string) => new TestCaller(url, accountId, id, apiKey);
    return { accountId, customerId: page.customer, period, at };
  }

  /** Repeats the request until it is decided: at the other process when the first one is gone, and again on a retry. */
  async function ask({ at }: Buyer, first: string): Promise<Outcome> {
    const earlier: Reply[] = [];
    let url = first;
    for (;;) {
      const response = await at(url)
        .render(HTML)
        .catch((error: unknown) => {
          if (url === survivor.url || error instanceof assert.AssertionError) throw error;
          url = survivor.url;
        });
      if (response === undefined) continue;
      if (response.status !== 503) return { response, earlier };
      if (earlier.length === 0) reportedOnce += 1;
      earlier.push(response);
      await sleep(COME_AGAIN_MS);
    }
  }

  /**
   * Sends half of the requests to each process. The first is killed; the second then continues the block.
   *
   * @param over.meanwhile runs before the second continues.
   * @param over.together false for a process that is killed while it decides: it has to be the one that does.
   */
  async function askedOf(
    buyer: Buyer,
    death: Death,
    {
      together = true,
      meanwhile,
    }: { readonly together?: boolean; readonly meanwhile?: () => Promise<void> } = {},
  ): Promise<readonly Outcome[]> {
    victim = await start(0, death);
    const { url, ended } = victim;
    const half = (of: string) => Array.from({ length: REQUESTS / 2 }, () => ask(buyer, of));
    const first = half(url);
    const second = together ? half(survivor.url) : [];
    victim.configure({ dispatches: true });
    assert.equal(await ended, 'SIGKILL');
    if (!together) second.push(...half(survivor.url));
    await meanwhile?.();
    survivor.configure({ dispatches: true });
    return Promise.all([...first, ...second]);
  }

  const invoicesOf = ({ customerId }: Buyer) =>
    [...standIn.books.invoices.values()].filter(
      ({ customer, metadata }) => customer === customerId && metadata.blockId !== undefined,
    );
  const chargesOf = ({ customerId }: Buyer) =>
    [...standIn.books.charges.values()].filter(
      ({ customer, amount, paid }) => customer === customerId && amount === PRICE && paid,
    );

  /** The owner is notified after the requests have continued; the block is settled after that. */
  async function blocked({ accountId }: Buyer) {
    const blocks = api.domain.connection.collection('billing_blocks');
    for (;;) {
      const found = await blocks.find({ accountId }).toArray();
      if (found.every(({ dueAt }) => dueAt === undefined)) return found;
      await sleep(COME_AGAIN_MS / 10);
    }
  }

  async function assertOneBlock(buyer: Buyer, outcomes: readonly Outcome[], letInBefore: number) {
    const blocks = await blocked(buyer);
    const { accountId, period } = buyer;
    assert.equal(outcomes.length, REQUESTS);
    for (const { response } of outcomes) assert.equal(response.status, 202, JSON.stringify(response.json));
    assert.equal(blocks.length, 1);
    const [{ _id: blockId, state }] = blocks as unknown as [{ _id: string; state: string }];
    assert.equal(state, 'granted');
    const invoices = invoicesOf(buyer).map(({ metadata, status, amount_paid: paid }) => [
      ...[metadata.blockId, status, paid],
    ]);
    assert.deepEqual(invoices, [[blockId, 'paid', PRICE]]);
    assert.equal(chargesOf(buyer).length, 1);
    const { overage, blockBalance, quota } = (await api.billing.blockLedger.find(accountId))!;
    assert.deepEqual([overage?.spentCents, overage?.purchase], [PRICE, undefined]);
    const granted = Object.entries(blockBalance!.blocks).map(([id, { left }]) => [id, left]);
    assert.deepEqual(granted, [[blockId, UNITS]]);
    // Requests that the killed process had admitted already were repeated.
    const used = quota![period]! - QUOTA;
    assert.ok(used >= REQUESTS && used <= REQUESTS + letInBefore, `${used} were let in`);
    assert.equal(await api.billing.blockLedger.left(accountId, period, QUOTA), UNITS - used);
    assert.deepEqual(await mailsOf(buyer), ['overage-purchased']);
  }

  async function mailsOf({ accountId }: Buyer): Promise<unknown[]> {
    const mails = await api.domain.connection.collection('mails').find({ accountId }).toArray();
    return mails.map(({ content }) => content.kind);
  }

  for (const [point, when, operation] of [
    ['before it has decided', 'before', 'reserve'],
    ['when it has decided', 'after', 'reserve'],
    ...POINTS_OF_A_BLOCK,
  ] as const) {
    it(`are all admitted by one block, charged once and granted once: ${point}`, async () => {
      const buyer = await usedUp();
      const outcomes = await askedOf(buyer, { when, operation }, { together: operation !== 'reserve' });
      const granted = operation === 'enqueue' || (operation === 'grant' && when === 'after');
      await assertOneBlock(buyer, outcomes, granted ? REQUESTS / 2 : 0);
    });
  }

  it('are rejected with a retry time when no process buys a block while they wait, and are admitted later', async () => {
    const buyer = await usedUp();
    survivor.configure({ waitsLongerMs: SHORT_WAIT_MS - WAIT_MS });
    const meanwhile = async () => {
      while (reportedOnce < REQUESTS) await sleep(COME_AGAIN_MS / 10);
    };
    const outcomes = await askedOf(buyer, DRAFTED, { meanwhile });
    await assertOneBlock(buyer, outcomes, 0);
    for (const { earlier } of outcomes) {
      assert.equal(earlier[0]?.json.code, 'OVERAGE_PENDING');
      assert.equal(earlier[0]?.headers.get('retry-after'), '5');
    }
  });

  it('keep no other request waiting while they wait', async () => {
    const buyer = await usedUp();
    // They keep their reservations until a process continues the block.
    survivor.configure({ waitsLongerMs: WAIT_MS * 1_000 });
    const neighbour = (await api.newCaller()).at(survivor.url);
    const meanwhile = async () => {
      // More have come than can be checked together, and none has a response.
      await sleep(COME_AGAIN_MS);
      for (let count = 0; count < QUOTA; count += 1) assert.equal((await neighbour.render(HTML)).status, 202);
      assert.equal(reportedOnce, 0);
    };
    await assertOneBlock(buyer, await askedOf(buyer, DRAFTED, { meanwhile }), 0);
  });

  for (const [point, when, operation] of [
    ['before its invoice is void', 'before', 'void'],
    ['when its invoice is void', 'after', 'void'],
    ['before the owner is notified', 'before', 'enqueue'],
    ['before the purchase is given up', 'before', 'release'],
    ['when the purchase is given up', 'after', 'release'],
  ] as const) {
    it(`are all rejected when the card is declined, and nothing is owed: ${point}`, async () => {
      const buyer = await usedUp();
      standIn.acts.changeCard(buyer.customerId, 'declined');
      const outcomes = await askedOf(buyer, { when, operation });
      const [block, ...others] = await blocked(buyer);
      assert.deepEqual([block?.state, others.length], ['failed', 0]);
      for (const { response } of outcomes) assert.equal(response.json.code, 'QUOTA_EXCEEDED');
      const invoices = invoicesOf(buyer).map(({ status, amount_paid: paid }) => [status, paid]);
      assert.deepEqual(invoices, [['void', 0]]);
      assert.equal(chargesOf(buyer).length, 0);
      const { overage, blockBalance, quota } = (await api.billing.blockLedger.find(buyer.accountId))!;
      const { enabled, spentCents, purchase } = overage!;
      assert.deepEqual([enabled, spentCents, purchase], [false, 0, undefined]);
      assert.deepEqual([blockBalance, quota![buyer.period]], [undefined, QUOTA]);
      assert.deepEqual(await mailsOf(buyer), ['overage-failed']);
    });
  }
});
