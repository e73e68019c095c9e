import assert from 'node:assert/strict';
import { pino } from 'pino';
import { AccountTakeover, type TakeoverStep } from '../../../src/tenants/accounts/account-takeover.ts';
import { TakeoverStore } from '../../../src/tenants/accounts/takeover-store.ts';
import { byAccount } from '../../../src/tenants/audit/audit-log.ts';
import { takeoverSteps } from '../../../src/work/takeover-steps.ts';
import { useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';
import { FirstPerson } from './support/first-person.ts';
import { forgotten, mailsTo, sendAsPage } from './support/mailed-links.ts';

const NEW_PASSWORD = 'quite another battery, and staple';
const LEASE_MS = 15_000;
const MINUTE_MS = 60_000;
const ASYNC = { html: '<p>x</p>', executionMode: 'async' };
const STEPS = 6;

describe('A takeover whose process dies', () => {
  const api = useApi({ trustedProxies: 1 });

  /** The takeovers of a process that dies in a step, or before the account is written. */
  function dying(at: number | 'before the account', died = latch()): AccountTakeover {
    const { domain, accounts, tenants } = api;
    const { connection, clock } = domain;
    const { accountService, audit, outbox } = tenants;
    const whole = takeoverSteps(domain, tenants);
    assert.equal(whole.length, STEPS);
    const never = () => {
      died.open();
      return new Promise<never>(() => undefined);
    };
    const steps = whole.map((step, i): TakeoverStep => (i === at ? { ...step, run: never } : step));
    return new AccountTakeover({
      accounts,
      accountService:
        at === 'before the account'
          ? Object.assign(Object.create(accountService), { takeOver: never })
          : accountService,
      takeovers: new TakeoverStore(connection, clock),
      steps,
      outbox,
      audit,
      clock,
      logger: pino({ level: 'silent' }),
    });
  }

  const noted = (accountId: string) =>
    api.domain.connection
      .collection<{ _id: string; counts?: object }>('account_takeovers')
      .findOne({ _id: accountId });

  for (let step = 0; step < STEPS; step += 1) {
    it(`gives access to nobody from before, and is carried out by another process (step ${step + 1})`, async () => {
      const first = await FirstPerson.register(api);
      const neighbour = await FirstPerson.register(api);
      const gate = latch();
      api.worker.render = async () => {
        await gate.opened;
        return { pages: 1 };
      };
      await first.client.expect(200, 'POST', '/user/webhook-keys/rotate');
      for (let i = 0; i < 3; i += 1) assert.equal((await first.call('POST', '/v1/pdf', ASYNC)).status, 202);
      const theirs = (await neighbour.call('POST', '/v1/pdf', ASYNC)).json.jobId;
      const account = (await api.accounts.findNow(first.accountId))!;
      const died = latch();
      void dying(step, died).takeOver(account, NEW_PASSWORD, byAccount('203.0.113.1'));
      await died.opened;
      await first.assertEnded();
      assert.deepEqual(await mailsTo(api, first.email, 'account-taken-over'), []);
      api.domain.clock.pass(2 * LEASE_MS);
      await api.tenants.takeover.sweep();
      const [counts] = await mailsTo(api, first.email, 'account-taken-over');
      assert.deepEqual(counts, { apiKeys: 2, signingKeys: 1, renders: 3 });
      gate.open();
      await api.domain.flush();
      const { total, jobs } = await api.domain.store.list({
        accountId: first.accountId,
        limit: 10,
        offset: 0,
        newestFirst: true,
      });
      assert.deepEqual([total, new Set(jobs.map(({ state }) => state))], [3, new Set(['cancelled'])]);
      await neighbour.assertGoesOn();
      assert.notEqual((await neighbour.call('GET', `/v1/pdf/jobs/${theirs}`)).json.status, 'cancelled');
      api.domain.clock.pass(MINUTE_MS);
      await api.tenants.takeover.sweep();
      assert.equal(await noted(first.accountId), null);
      assert.equal((await mailsTo(api, first.email, 'account-taken-over')).length, 1);
    });
  }

  it('before the account is written changes nothing, and another link does what this one should have', async () => {
    const first = await FirstPerson.register(api);
    const account = (await api.accounts.findNow(first.accountId))!;
    const died = latch();
    void dying('before the account', died).takeOver(account, NEW_PASSWORD, byAccount('203.0.113.1'));
    await died.opened;
    for (let sweeps = 0; sweeps < 3; sweeps += 1) {
      api.domain.clock.pass(2 * LEASE_MS);
      await api.tenants.takeover.sweep();
    }
    assert.equal((await api.accounts.findNow(first.accountId))?.emailVerifiedAt, undefined);
    const again = await FirstPerson.register(api);
    await again.assertGoesOn();
    assert.equal((await first.call('GET', '/v1/pdf/jobs')).status, 200);
    const token = await forgotten(api, first.email);
    assert.equal((await sendAsPage(api, '/auth/reset', { token, password: NEW_PASSWORD })).status, 200);
    await first.assertEnded();
    assert.deepEqual(await mailsTo(api, first.email, 'account-taken-over'), [{ apiKeys: 2 }]);
  });

  it('before the account is written is forgotten after a while', async () => {
    const first = await FirstPerson.register(api);
    const account = (await api.accounts.findNow(first.accountId))!;
    const died = latch();
    void dying('before the account', died).takeOver(account, NEW_PASSWORD, byAccount('203.0.113.1'));
    await died.opened;
    api.domain.clock.pass(11 * MINUTE_MS);
    await api.tenants.takeover.sweep();
    assert.equal(await noted(first.accountId), null);
    assert.equal((await first.call('GET', '/v1/pdf/jobs')).status, 200);
  });
});
