import assert from 'node:assert/strict';
import type { Plan } from '../../../src/tenants/plans/plan.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { useApi } from '../http/support/api.ts';
import {
  addMember,
  alertsOf,
  judgeOf,
  mailsTo,
  ownedCaller,
  renderMany,
  unconfirmedCaller,
} from './support.ts';

const QUOTA = 10;
const DAY_MS = 24 * 3_600_000;
const SETTINGS = { enabled: true, units: 1000, priceCents: 1000, cycle: '2026-01' };

describe('Alerts of the quota', () => {
  const api = useApi({ plan: { monthlyRenders: QUOTA } });
  const judged = () => judgeOf(api).sweep();
  /** Gives all accounts of the plan another quota. */
  const setQuota = (monthlyRenders: number) => {
    (api.domain.plan as { -readonly [K in keyof Plan]: Plan[K] }).monthlyRenders = monthlyRenders;
  };
  afterEach(() => setQuota(QUOTA));

  it('come once each as renders reach 50, 80 and 100 %', async () => {
    const caller = await ownedCaller(api);
    await renderMany(api, caller, 4);
    assert.equal(await judged(), 0, 'nothing is looked at below');
    const reached: string[][] = [];
    for (const count of [1, 1, 2, 1, 1]) {
      await renderMany(api, caller, count);
      await judged();
      reached.push(await alertsOf(api, caller.accountId));
    }
    const [half, most, all] = [50, 80, 100].map((percent) => `quota-alert ${percent} of 10`);
    assert.deepEqual(reached, [[half], [half], [half, most], [half, most], [half, most, all]]);
  });

  it('say what is left, when the quota renews, and what happens then', async () => {
    const caller = await ownedCaller(api);
    await renderMany(api, caller, 8);
    await judged();
    const [mail, ...others] = await mailsTo(api, caller.accountId);
    assert.deepEqual(others, [], 'of two thresholds that were passed the higher one is told');
    const now = api.domain.clock.now();
    assert.deepEqual(mail!.content.values, {
      ...{ percent: 80, used: 8, limit: 10, sells: true, beyond: 'rejected' },
      renews: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString(),
    });
    assert.deepEqual(mail!.unsubscribe, { personId: caller.accountId, about: 'quota' });
  });

  it('go to the owner and to who pays, of confirmed addresses, and to nobody of another account', async () => {
    const [caller, other] = [await ownedCaller(api), await ownedCaller(api)];
    const { email } = await addMember(api, caller.accountId, 'billing');
    for (const role of ['developer', 'viewer'] as const) await addMember(api, caller.accountId, role);
    const stranger = await unconfirmedCaller(api);
    for (const one of [caller, stranger]) await renderMany(api, one, 5);
    await judged();
    const owner = (await api.accounts.find(caller.accountId))!.email;
    const to = (await mailsTo(api, caller.accountId)).map((mail) => mail.to);
    assert.deepEqual(to.toSorted(), [owner, email].toSorted());
    assert.deepEqual(await mailsTo(api, stranger.accountId), [], 'nobody has confirmed its address');
    assert.deepEqual(await mailsTo(api, other.accountId), []);
  });

  it('come to who has chosen them, and not to who has chosen otherwise', async () => {
    const caller = await ownedCaller(api);
    const { email, personId } = await addMember(api, caller.accountId, 'viewer');
    const { notifications } = api.tenants;
    const by = { actor: 'account' } as const;
    await notifications.choose(caller.accountId, personId, { quota: true }, by);
    await notifications.choose(caller.accountId, caller.accountId, { quota: false }, by);
    await renderMany(api, caller, 5);
    await judged();
    assert.deepEqual(
      (await mailsTo(api, caller.accountId)).map((mail) => mail.to),
      [email],
    );
  });

  it('come at the thresholds of the account', async () => {
    const caller = await ownedCaller(api);
    await api.tenants.notifications.setThresholds(
      caller.accountId,
      { quotaPercents: [90] },
      { actor: 'account' },
    );
    for (const count of [5, 3, 1, 1]) {
      await renderMany(api, caller, count);
      await judged();
    }
    assert.deepEqual(await alertsOf(api, caller.accountId), ['quota-alert 90 of 10']);
  });

  it('begin anew with a quota that is raised, at the part of it that is used', async () => {
    const caller = await ownedCaller(api);
    await renderMany(api, caller, 10);
    await judged();
    setQuota(16);
    await renderMany(api, caller, 1);
    await api.domain.alerts.notice([{ accountId: caller.accountId, dueAt: api.domain.clock.now() }]);
    await judged();
    assert.deepEqual(
      await alertsOf(api, caller.accountId),
      ['quota-alert 100 of 10'],
      '60 % were told of before',
    );
    await renderMany(api, caller, 2);
    await api.domain.alerts.notice([{ accountId: caller.accountId, dueAt: api.domain.clock.now() }]);
    await judged();
    assert.deepEqual(await alertsOf(api, caller.accountId), [
      'quota-alert 100 of 10',
      'quota-alert 80 of 16',
    ]);
  });

  it('count blocks that were bought, and look at them while they are used', async () => {
    const caller = await ownedCaller(api);
    const { accountId } = caller;
    await renderMany(api, caller, 10);
    await judged();
    const { clock, blockLedger } = api.domain;
    const counting = { period: quotaPeriod(clock.now()), quota: QUOTA };
    await blockLedger.grant(accountId, 'block', 10, clock.now().getTime() + 40 * DAY_MS, counting);
    await renderMany(api, caller, 6);
    clock.pass(60_000);
    await judged();
    assert.deepEqual(await alertsOf(api, accountId), ['quota-alert 100 of 10', 'quota-alert 80 of 20']);
  });

  it('come once of the quota while blocks are bought automatically, and of the cap', async () => {
    const caller = await ownedCaller(api);
    const { accountId } = caller;
    const { clock, blockLedger } = api.domain;
    await blockLedger.set(accountId, { ...SETTINGS, capCents: 2000 });
    await renderMany(api, caller, 10);
    await judged();
    const [mail] = await mailsTo(api, accountId);
    assert.equal('beyond' in mail!.content.values && mail!.content.values.beyond, 'bought');
    for (const block of ['first', 'second']) {
      const record = (await blockLedger.find(accountId))!;
      const period = quotaPeriod(clock.now());
      const limit = record.quota![period]!;
      assert.ok(await blockLedger.reserve(record, block, { period, limit, count: 1 }));
      const counting = { period, quota: QUOTA };
      await blockLedger.grant(accountId, block, 1, clock.now().getTime() + 40 * DAY_MS, counting);
      await api.domain.alerts.notice([{ accountId, dueAt: clock.now() }]);
      await judged();
      await renderMany(api, caller, 1);
    }
    clock.pass(60_000);
    await judged();
    assert.deepEqual(await alertsOf(api, accountId), [
      'quota-alert 100 of 10',
      'spend-alert 50 of 2000',
      'spend-alert 100 of 2000',
      // Nothing more is bought.
      'quota-alert 100 of 12',
    ]);
  });

  it('come again in a new period', async () => {
    const caller = await ownedCaller(api);
    const { clock } = api.domain;
    await renderMany(api, caller, 5);
    await judged();
    const { offset } = clock;
    clock.pass(32 * DAY_MS);
    try {
      await renderMany(api, caller, 5);
      await judged();
      const half = 'quota-alert 50 of 10';
      assert.deepEqual(await alertsOf(api, caller.accountId), [half, half]);
    } finally {
      clock.offset = offset;
    }
  });

  it('come when a quota that was made smaller rejects the next request', async () => {
    const caller = await ownedCaller(api);
    await renderMany(api, caller, 4);
    setQuota(4);
    assert.equal((await caller.render({ html: '<p>x</p>' })).json.code, 'QUOTA_EXCEEDED');
    await judged();
    assert.deepEqual(await alertsOf(api, caller.accountId), ['quota-alert 100 of 4']);
  });
});
