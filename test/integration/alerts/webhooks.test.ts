import assert from 'node:assert/strict';
import type { Agent } from 'undici';
import { MAX_ADDRESSES } from '../../../src/work/alerts/alert-record.ts';
import { openSender, Receiver, scheduleCallback, testAgent } from '../callbacks/support.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { alertsOf, judgeOf, mailsTo, ownedCaller } from './support.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('Alerts of webhooks', () => {
  const api = useApi();
  let caller: TestCaller;
  let receiver: Receiver;
  let agent: Agent;
  before(() => {
    agent = testAgent();
  });
  after(() => agent.destroy());
  beforeEach(async () => {
    caller = await ownedCaller(api);
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    await receiver.close();
    await forget();
  });

  const forget = () => api.domain.connection.collection('callback_deliveries').deleteMany({});
  const respond = (status: number) => {
    receiver.respond = (_request, response) => response.writeHead(status).end();
  };
  const deliver = (path = '/hook?token=secret') =>
    scheduleCallback(api.domain, receiver.url(path), caller.accountId);
  /** Makes every attempt that is due. */
  async function send(): Promise<void> {
    const { noticeCallbacks } = api.domain;
    const sender = openSender(api.domain, agent, { onAttempt: (...of) => noticeCallbacks.note(...of) });
    await sender.send();
    await sender.idle();
    await noticeCallbacks.flush();
  }
  const judged = async (afterMs: number) => {
    api.domain.clock.pass(afterMs);
    await judgeOf(api).sweep();
  };
  const alerts = () => alertsOf(api, caller.accountId);

  it('come when an address has failed for an hour, and when callbacks arrive again', async () => {
    respond(500);
    await deliver();
    await send();
    await judged(MINUTE_MS);
    assert.deepEqual(await alerts(), []);
    await send();
    await judged(HOUR_MS);
    const [mail] = await mailsTo(api, caller.accountId);
    const { values } = mail!.content;
    assert.ok('nextAt' in values && values.nextAt !== null);
    assert.deepEqual(
      { ...values, since: null, nextAt: null },
      {
        ...{ url: receiver.url('/hook'), failures: 2, since: null, nextAt: null },
        outcome: 'The receiver responded with status 500.',
      },
    );
    await judged(HOUR_MS);
    assert.deepEqual(await alerts(), ['webhook-alert']);
    respond(200);
    await deliver('/hook?token=other');
    await send();
    await judged(0);
    assert.deepEqual(await alerts(), ['webhook-alert', 'webhook-recovered']);
    assert.deepEqual((await api.domain.alerts.find(caller.accountId))!.webhooks, {});
  });

  it('come when 20 attempts in a row have failed', async () => {
    respond(503);
    for (let i = 0; i < 19; i += 1) await deliver();
    await send();
    await judged(MINUTE_MS);
    assert.deepEqual(await alerts(), []);
    await forget();
    await deliver();
    await send();
    await judged(MINUTE_MS);
    assert.deepEqual(await alerts(), ['webhook-alert']);
  });

  it('do not come when a callback has arrived in between, and nothing is told of that', async () => {
    for (const status of [500, 200, 500]) {
      respond(status);
      await deliver();
      await send();
      await judged(40 * MINUTE_MS);
      await forget();
    }
    assert.deepEqual(await alerts(), []);
  });

  it('are about one address: another one of the host is another', async () => {
    receiver.respond = ({ url }, response) => response.writeHead(url === '/bad' ? 500 : 200).end();
    for (const path of ['/good', '/bad']) await deliver(path);
    await send();
    await judged(HOUR_MS);
    const mails = await mailsTo(api, caller.accountId);
    assert.deepEqual(
      mails.map(({ content: { values } }) => 'url' in values && values.url),
      [receiver.url('/bad')],
    );
  });

  it('are bounded: a few addresses are watched, and a day has 20 alerts', async () => {
    respond(500);
    for (let i = 0; i < MAX_ADDRESSES + 5; i += 1) await deliver(`/${i}`);
    await send();
    const { webhooks } = (await api.domain.alerts.find(caller.accountId))!;
    assert.equal(Object.keys(webhooks!).length, MAX_ADDRESSES);
    await judged(HOUR_MS);
    respond(200);
    for (let i = 0; i < MAX_ADDRESSES; i += 1) await deliver(`/${i}`);
    await send();
    await judged(0);
    assert.equal((await alerts()).length, 20);
  });
});
