import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { hourOf } from '../../../src/work/alerts/judge-failures.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { addMember, alertsOf, judgeOf, mailsTo, ownedCaller, renderMany } from './support.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const THRESHOLDS = { failureRenders: 5 };

describe('Alerts of failures', () => {
  const api = useApi();
  let caller: TestCaller;
  /** The renders of a test are in one hour, whenever it runs. */
  beforeEach(async () => {
    const { clock } = api.domain;
    clock.pass(hourOf(clock.now()).getTime() + HOUR_MS - clock.now().getTime());
    caller = await ownedCaller(api);
    await api.tenants.notifications.setThresholds(caller.accountId, THRESHOLDS, { actor: 'account' });
  });
  afterEach(() => succeed());
  const succeed = () => {
    api.worker.render = async () => ({ pages: 1 });
  };
  async function fail(count: number, code: 'RENDER_TIMEOUT' | 'TEMPLATE_ERROR' = 'RENDER_TIMEOUT') {
    api.worker.render = async () => ({ fails: new PlatenError(code) });
    await renderMany(api, caller, count);
    succeed();
  }
  /** Judges what was noticed before. */
  async function judged(): Promise<number> {
    api.domain.clock.pass(MINUTE_MS);
    return judgeOf(api).sweep();
  }
  const alerts = () => alertsOf(api, caller.accountId);

  it('come when more than 20 % of enough renders of an hour have failed, with the commonest codes', async () => {
    await fail(1);
    await renderMany(api, caller, 8);
    await judged();
    assert.deepEqual(await alerts(), [], 'one of nine');
    const hour = hourOf(api.domain.clock.now()).toISOString();
    await fail(2, 'TEMPLATE_ERROR');
    await judged();
    const [mail, ...others] = await mailsTo(api, caller.accountId);
    assert.deepEqual(others, []);
    assert.deepEqual(mail!.content, {
      kind: 'failure-alert',
      values: {
        ...{ hour, renders: 11, failed: 3 },
        codes: [
          { code: 'TEMPLATE_ERROR', count: 2 },
          { code: 'RENDER_TIMEOUT', count: 1 },
        ],
      },
    });
  });

  it('do not come of too few renders, nor of rejected and cancelled ones', async () => {
    await fail(4);
    for (let i = 0; i < 10; i += 1)
      assert.equal((await caller.render({ html: '<p>x</p>', options: { scale: 9 } })).status, 400);
    await api.domain.flush();
    await api.domain.usage.flush();
    await judged();
    assert.deepEqual(await alerts(), []);
    await fail(1);
    await judged();
    assert.deepEqual(await alerts(), ['failure-alert'], 'the fifth');
  });

  it('go to owner and developers, and not to who sees no documents', async () => {
    const { email } = await addMember(api, caller.accountId, 'developer');
    for (const role of ['billing', 'viewer'] as const) await addMember(api, caller.accountId, role);
    await fail(5);
    await judged();
    const owner = (await api.accounts.find(caller.accountId))!.email;
    const to = (await mailsTo(api, caller.accountId)).map((mail) => mail.to);
    assert.deepEqual(to.toSorted(), [owner, email].toSorted());
  });

  it('come again only after the account has recovered, and at most every 6 hours', async () => {
    const { clock } = api.domain;
    const nextHour = async () => {
      clock.pass(HOUR_MS);
      await judged();
    };
    await fail(5);
    await judged();
    for (let hours = 0; hours < 7; hours += 1) {
      await nextHour();
      await fail(5);
      await judged();
    }
    assert.deepEqual(await alerts(), ['failure-alert'], 'it has never recovered');
    for (let hours = 0; hours < 3; hours += 1) await nextHour();
    assert.equal((await api.domain.alerts.find(caller.accountId))!.failing!.now, undefined);
    await fail(5);
    await judged();
    assert.deepEqual(await alerts(), ['failure-alert', 'failure-alert']);
    for (let hours = 0; hours < 3; hours += 1) await nextHour();
    await fail(5);
    await judged();
    assert.equal((await alerts()).length, 2, 'less than 6 hours later');
    for (let hours = 0; hours < 3; hours += 1) {
      await nextHour();
      await fail(5);
      await judged();
    }
    assert.equal((await alerts()).length, 3, 'it fails still');
  });

  it('are told of the hour in which renders failed, also after its end', async () => {
    const hour = hourOf(api.domain.clock.now()).toISOString();
    api.domain.clock.pass(HOUR_MS - MINUTE_MS / 2);
    await fail(5);
    await judged();
    const [mail] = await mailsTo(api, caller.accountId);
    assert.equal('hour' in mail!.content.values && mail!.content.values.hour, hour);
  });
});
