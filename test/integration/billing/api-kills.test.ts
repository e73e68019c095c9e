import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LEASE_MS } from '../../../src/billing/leases.ts';
import { setUpStripe } from '../../../src/billing/setup.ts';
import { quotaPeriod } from '../../../src/usage/quota-period.ts';
import { signUp } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import type { Answer } from '../../support/send.ts';
import { StripeStandIn } from '../../support/stripe/stand-in.ts';
import { openApi, type TestApi, TestCaller } from '../http/support/api.ts';
import type { ApiProcessOptions, Death, FromApiProcess, ToApiProcess } from './api-process.ts';

const PROCESS = fileURLToPath(new URL('api-process.ts', import.meta.url));
/** Longer than a block is left to a dispatcher that is not heard of. */
const AHEAD_MS = LEASE_MS;
const QUOTA = 2;
const UNITS = 1000;
const PRICE = 1000;
const REQUESTS = 200;
const HTML = { html: '<p>x</p>' };
const COME_AGAIN_MS = 500;
/** A request waits so long for a purchase, unless the process is told otherwise. */
const WAIT_MS = 10_000;
const SHORT_WAIT_MS = 500;
const DRAFTED = { when: 'after', operation: 'draft' } as const;

interface ApiProcess {
  readonly url: string;
  /** Resolves with the signal that has ended it. */
  readonly ended: Promise<NodeJS.Signals | null>;
  /** Whether it goes on with blocks, and by how much longer than ten seconds requests wait for that. */
  tell(told: Partial<ToApiProcess>): void;
  end(): Promise<void>;
}

interface Buyer {
  readonly accountId: string;
  readonly customerId: string;
  readonly period: ReturnType<typeof quotaPeriod>;
  /** At the process with this address. */
  readonly at: (url: string) => TestCaller;
}

/** How a request was answered in the end, and what it was told before. */
interface Outcome {
  readonly answer: Answer;
  readonly told: readonly Answer[];
}

describe('200 requests at the moment the quota ends, in two API processes of which one is killed', function () {
  this.timeout(60_000);
  let uri: string;
  let api: TestApi;
  let standIn: StripeStandIn;
  let apiBase: string;
  let survivor: ApiProcess;
  let victim: ApiProcess | undefined;
  /** Requests that were told to come again, each once. */
  let toldOnce: number;

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
    survivor.tell({ dispatches: false });
    await victim?.end();
  });

  async function start(aheadMs: number, death?: Death): Promise<ApiProcess> {
    const { secretKey } = standIn;
    const options: ApiProcessOptions = { uri, apiBase, secretKey, quota: QUOTA, aheadMs, death };
    const child: ChildProcess = fork(PROCESS, [JSON.stringify(options)]);
    const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null);
    const [told] = (await Promise.race([
      once(child, 'message'),
      ended.then((signal) => Promise.reject(new Error(`It ended at once: ${signal}`))),
    ])) as [FromApiProcess];
    return {
      url: told.url,
      ended,
      tell: ({ dispatches = false, waitsLongerMs = 0 }) =>
        void child.send({ dispatches, waitsLongerMs } satisfies ToApiProcess),
      async end() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }

  /** An account that has paid for a plan, has used up its quota, and lets one block be bought. */
  async function usedUp(): Promise<Buyer> {
    toldOnce = 0;
    const owner = await signUp(api.url);
    const accountId: string = (await owner.expect(200, 'GET', '/auth/me')).id;
    const { id, apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name: 'mine' });
    await owner.expect(200, 'POST', '/user/checkout', { plan: 'professional' });
    const page = [...standIn.books.sessions.values()].findLast(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(page.id);
    await api.billing.selling!.sync.lookAt(accountId);
    const order = { enabled: true, spendCapCents: PRICE };
    await owner.expect(200, 'POST', '/user/subscription/auto-overage', order);
    const { quotaWindow } = (await api.accounts.find(accountId))!;
    const period = quotaPeriod(api.domain.clock.now(), quotaWindow);
    await api.domain.connection
      .collection<{ _id: string }>('ledgers')
      .updateOne({ _id: accountId }, { $set: { [`quota.${period}`]: QUOTA } });
    const at = (url: string) => new TestCaller(url, accountId, id, apiKey);
    return { accountId, customerId: page.customer, period, at };
  }

  /** Asks until it is decided: of the other process when the first one is gone, and again when it is told so. */
  async function ask({ at }: Buyer, first: string): Promise<Outcome> {
    const told: Answer[] = [];
    let url = first;
    for (;;) {
      const answer = await at(url)
        .render(HTML)
        .catch((error: unknown) => {
          if (url === survivor.url || error instanceof assert.AssertionError) throw error;
          url = survivor.url;
        });
      if (answer === undefined) continue;
      if (answer.status !== 503) return { answer, told };
      if (told.length === 0) toldOnce += 1;
      told.push(answer);
      await sleep(COME_AGAIN_MS);
    }
  }

  /**
   * Half of the requests at each process. The first is killed; the second goes on with the block then.
   *
   * @param over.meanwhile before the second goes on.
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
    victim.tell({ dispatches: true });
    assert.equal(await ended, 'SIGKILL');
    if (!together) second.push(...half(survivor.url));
    await meanwhile?.();
    survivor.tell({ dispatches: true });
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

  /** The owner is told after the requests have gone on; the block rests after that. */
  async function resting({ accountId }: Buyer) {
    const blocks = api.domain.connection.collection('overage_blocks');
    for (;;) {
      const found = await blocks.find({ accountId }).toArray();
      if (found.every(({ dueAt }) => dueAt === undefined)) return found;
      await sleep(COME_AGAIN_MS / 10);
    }
  }

  async function assertOneBlock(buyer: Buyer, outcomes: readonly Outcome[], letInBefore: number) {
    const blocks = await resting(buyer);
    const { accountId, period } = buyer;
    assert.equal(outcomes.length, REQUESTS);
    for (const { answer } of outcomes) assert.equal(answer.status, 202, JSON.stringify(answer.json));
    assert.equal(blocks.length, 1);
    const [{ _id: blockId, state }] = blocks as unknown as [{ _id: string; state: string }];
    assert.equal(state, 'granted');
    const invoices = invoicesOf(buyer).map(({ metadata, status, amount_paid: paid }) => [
      ...[metadata.blockId, status, paid],
    ]);
    assert.deepEqual(invoices, [[blockId, 'paid', PRICE]]);
    assert.equal(chargesOf(buyer).length, 1);
    const { overage, bought, quota } = (await api.billing.purchases.find(accountId))!;
    assert.deepEqual([overage?.spentCents, overage?.gate], [PRICE, undefined]);
    const granted = Object.entries(bought!.blocks).map(([id, { left }]) => [id, left]);
    assert.deepEqual(granted, [[blockId, UNITS]]);
    // Whom the killed process had let in already has asked again.
    const used = quota![period]! - QUOTA;
    assert.ok(used >= REQUESTS && used <= REQUESTS + letInBefore, `${used} were let in`);
    assert.equal(await api.billing.purchases.left(accountId, period, QUOTA), UNITS - used);
    assert.deepEqual(await mailsOf(buyer), ['overage-purchased']);
  }

  async function mailsOf({ accountId }: Buyer): Promise<unknown[]> {
    const mails = await api.domain.connection.collection('mails').find({ accountId }).toArray();
    return mails.map(({ content }) => content.kind);
  }

  for (const [point, when, operation] of [
    ['before it has decided', 'before', 'reserve'],
    ['when it has decided', 'after', 'reserve'],
    ['before the block has a record', 'before', 'add'],
    ['when the block has a record', 'after', 'add'],
    ['before its invoice is made', 'before', 'draft'],
    ['when its invoice is made', 'after', 'draft'],
    ['when its invoice is final', 'after', 'finalise'],
    ['before it is paid', 'before', 'pay'],
    ['when it is paid', 'after', 'pay'],
    ['before its units are there', 'before', 'grant'],
    ['when its units are there', 'after', 'grant'],
    ['before the owner is told', 'before', 'enqueue'],
    ['when the owner is told', 'after', 'enqueue'],
  ] as const) {
    it(`are all let in by one block, charged once and granted once: ${point}`, async () => {
      const buyer = await usedUp();
      const outcomes = await askedOf(buyer, { when, operation }, { together: operation !== 'reserve' });
      const granted = operation === 'enqueue' || (operation === 'grant' && when === 'after');
      await assertOneBlock(buyer, outcomes, granted ? REQUESTS / 2 : 0);
    });
  }

  it('are told to come again where nobody goes on for as long as they wait, and are let in then', async () => {
    const buyer = await usedUp();
    survivor.tell({ waitsLongerMs: SHORT_WAIT_MS - WAIT_MS });
    const meanwhile = async () => {
      while (toldOnce < REQUESTS) await sleep(COME_AGAIN_MS / 10);
    };
    const outcomes = await askedOf(buyer, DRAFTED, { meanwhile });
    await assertOneBlock(buyer, outcomes, 0);
    for (const { told } of outcomes) {
      assert.equal(told[0]?.json.code, 'OVERAGE_PENDING');
      assert.equal(told[0]?.headers.get('retry-after'), '5');
    }
  });

  it('keep nobody else waiting while they wait', async () => {
    const buyer = await usedUp();
    // They hold what they hold until somebody goes on with the block.
    survivor.tell({ waitsLongerMs: WAIT_MS * 1_000 });
    const neighbour = (await api.newCaller()).at(survivor.url);
    const meanwhile = async () => {
      // More than can be looked at together have come, and none is answered.
      await sleep(COME_AGAIN_MS);
      for (let count = 0; count < QUOTA; count += 1) assert.equal((await neighbour.render(HTML)).status, 202);
      assert.equal(toldOnce, 0);
    };
    await assertOneBlock(buyer, await askedOf(buyer, DRAFTED, { meanwhile }), 0);
  });

  for (const [point, when, operation] of [
    ['before its invoice is void', 'before', 'void'],
    ['when its invoice is void', 'after', 'void'],
    ['before the owner is told', 'before', 'enqueue'],
    ['before the purchase is given up', 'before', 'release'],
    ['when the purchase is given up', 'after', 'release'],
  ] as const) {
    it(`are all refused when the card is declined, and nothing is owed: ${point}`, async () => {
      const buyer = await usedUp();
      standIn.acts.changeCard(buyer.customerId, 'declined');
      const outcomes = await askedOf(buyer, { when, operation });
      const [block, ...others] = await resting(buyer);
      assert.deepEqual([block?.state, others.length], ['failed', 0]);
      for (const { answer } of outcomes) assert.equal(answer.json.code, 'QUOTA_EXCEEDED');
      const invoices = invoicesOf(buyer).map(({ status, amount_paid: paid }) => [status, paid]);
      assert.deepEqual(invoices, [['void', 0]]);
      assert.equal(chargesOf(buyer).length, 0);
      const { overage, bought, quota } = (await api.billing.purchases.find(buyer.accountId))!;
      const { enabled, spentCents, gate } = overage!;
      assert.deepEqual([enabled, spentCents, gate], [false, 0, undefined]);
      assert.deepEqual([bought, quota![buyer.period]], [undefined, QUOTA]);
      assert.deepEqual(await mailsOf(buyer), ['overage-failed']);
    });
  }
});
