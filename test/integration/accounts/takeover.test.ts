import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { Agent } from 'undici';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { CallbackSender } from '../../../src/work/callbacks/sender.ts';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { openSender, Receiver, testAgent } from '../callbacks/support.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';
import { FirstPerson } from './support/first-person.ts';
import { forgotten, mailsTo, sendAsPage } from './support/mailed-links.ts';

const NEW_PASSWORD = 'quite another battery, and staple';
const HTML = { html: '<p>x</p>' };
const ASYNC = { ...HTML, executionMode: 'async' };

describe('An account that somebody has registered in advance with the address of another', () => {
  let api: TestApi;
  let agent: Agent;
  let receiver: Receiver;
  let sender: CallbackSender;

  before(async () => {
    // One render runs, and others wait.
    api = await openApi({ trustedProxies: 1, plan: { concurrentRenders: 1 } });
    agent = testAgent();
    receiver = await Receiver.start();
    sender = openSender(api.domain, agent, { accounts: api.accounts });
  });
  after(async () => {
    await sender.stop(0);
    await agent.destroy();
    await receiver.close();
    await api.close();
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.respond = (_request, response) => response.writeHead(204).end();
    api.worker.render = async () => ({ pages: 1 });
  });

  /** The owner of the address takes the account over by the mailed link, and signs in. */
  async function takeOver(email: string): Promise<AccountClient> {
    const token = await forgotten(api, email);
    assert.equal((await sendAsPage(api, '/auth/reset', { token, password: NEW_PASSWORD })).status, 200);
    const login = await sendAsPage(api, '/auth/login', { email, password: NEW_PASSWORD });
    return new AccountClient(api.url, login.json.accessToken);
  }

  /** Ends what a takeover has left, and sends every callback that is due. */
  async function settle(): Promise<void> {
    await api.domain.batches.reconciler.sweep();
    await api.domain.flush();
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await sender.send();
      await sender.idle();
    }
  }

  it('serves its new owner alone: nothing of the first person gives access any more', async () => {
    const [first, neighbour] = [await FirstPerson.register(api), await FirstPerson.register(api)];
    await first.call('POST', '/v1/pdf', HTML);
    const { jobs } = (await first.call('GET', '/v1/pdf/jobs')).json;
    const { url } = (await first.call('GET', `/v1/pdf/jobs/${jobs[0].jobId}/download-url`)).json;
    const shared = await first.client.expect(201, 'POST', `/user/renders/${jobs[0].jobId}/share`, {});
    for (const each of [url, shared.url]) assert.equal((await fetch(each)).status, 200);
    const owner = await takeOver(first.email);
    await first.assertEnded();
    for (const each of [url, shared.url]) assert.equal((await fetch(each)).status, 404);
    const mine = await owner.expect(201, 'POST', `/user/renders/${jobs[0].jobId}/share`, {});
    assert.equal((await fetch(mine.url)).status, 200);
    const me = await owner.expect(200, 'GET', '/auth/me');
    assert.deepEqual([me.id, me.emailConfirmed], [first.accountId, true]);
    assert.ok(me.takenOverAt);
    const { keys } = await owner.expect(200, 'GET', '/user/api-keys');
    assert.deepEqual(
      keys.map(({ status }: { status: string }) => status),
      ['revoked', 'revoked'],
    );
    assert.equal((await owner.expect(200, 'GET', '/auth/sessions')).total, 0);
    const { apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name: 'mine', mode: 'live' });
    assert.equal((await first.call('POST', '/v1/pdf', HTML, apiKey)).status, 200);
    assert.equal((await first.call('GET', '/v1/pdf/jobs', undefined, apiKey)).json.total, 2);
    await neighbour.assertGoesOn();
    assert.equal((await neighbour.call('POST', '/v1/pdf', HTML)).status, 200);
    assert.deepEqual(await mailsTo(api, neighbour.email, 'account-taken-over'), []);
  });

  it('loses the work that waits and runs, and calls no receiver of the first person', async () => {
    const [first, neighbour] = [await FirstPerson.register(api), await FirstPerson.register(api)];
    const gate = latch();
    const begun = latch();
    api.worker.render = async ({ accountId }) => {
      if (accountId === first.accountId) {
        begun.open();
        await gate.opened;
      }
      return { pages: 1 };
    };
    receiver.respond = (_request, response) => response.writeHead(503).end();
    const webhookUrl = receiver.url('/first');
    await first.client.expect(202, 'POST', '/user/webhook-deliveries/test', { url: webhookUrl });
    await sender.send();
    await sender.idle();
    assert.equal(receiver.received.length, 1, 'it is tried again later');
    const running = (await first.call('POST', '/v1/pdf', { ...ASYNC, webhookUrl })).json.jobId;
    await begun.opened;
    const waiting = (await first.call('POST', '/v1/pdf', { ...ASYNC, webhookUrl })).json.jobId;
    const items = ['a', 'b', 'c'].map((id) => ({ id, ...HTML }));
    const batch = (await first.call('POST', '/v1/pdf/batch', { items, webhookUrl })).json.jobId;
    await eventually('the batch waits', async () => {
      const { waiting: jobs } = await api.domain.ledger.find(first.accountId).then((record) => record!);
      return jobs === 4;
    });
    receiver.received.length = 0;
    receiver.respond = (_request, response) => response.writeHead(204).end();
    const owner = await takeOver(first.email);
    for (const jobId of [running, waiting])
      assert.equal((await owner.expect(200, 'GET', `/user/renders/${jobId}`)).status, 'cancelled');
    await eventually('the batch has ended', async () => {
      await settle();
      return (await owner.expect(200, 'GET', `/user/batches/${batch}`)).status === 'cancelled';
    });
    gate.open();
    api.domain.clock.pass(24 * 3_600_000);
    await settle();
    api.domain.clock.pass(-24 * 3_600_000);
    assert.deepEqual(receiver.received, []);
    const record = await api.domain.ledger.find(first.accountId);
    assert.deepEqual([record?.inFlight, record?.waiting], [0, 0]);
    const { deliveries } = await owner.expect(200, 'GET', '/user/webhook-deliveries');
    assert.equal(deliveries.length, 4);
    for (const { status, error } of deliveries) {
      assert.equal(status, 'failed');
      assert.match(error, /requested before the owner of the address took the account over/);
    }
    const again = `/user/webhook-deliveries/${deliveries[0].id}/redeliver`;
    await owner.expect(202, 'POST', again);
    await settle();
    assert.deepEqual(receiver.received, [], 'not even when it is sent again by hand');
    const mine = { ...ASYNC, webhookUrl: receiver.url('/owner') };
    await owner.expect(202, 'POST', '/user/renders', { ...mine, mode: 'live' });
    await neighbour.call('POST', '/v1/pdf', { ...ASYNC, webhookUrl: receiver.url('/neighbour') });
    await eventually('both are called back', async () => {
      await settle();
      return receiver.received.length === 2;
    });
    assert.deepEqual(receiver.received.map(({ path }) => path).sort(), ['/neighbour', '/owner']);
  });

  it('signs callbacks with keys that the first person does not know', async () => {
    const first = await FirstPerson.register(api);
    const secrets = [];
    for (let i = 0; i < 3; i += 1)
      secrets.push((await first.client.expect(200, 'POST', '/user/webhook-keys/rotate')).secret);
    const owner = await takeOver(first.email);
    assert.deepEqual((await owner.expect(200, 'GET', '/user/webhook-keys')).keys, []);
    const rings = api.domain.connection.collection<{ _id: string }>('callback_keys');
    assert.equal(await rings.findOne({ _id: first.accountId }), null);
    await owner.expect(202, 'POST', '/user/webhook-deliveries/test', { url: receiver.url() });
    await settle();
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[0]];
    const signed = `${headers['x-service-delivery-id']}.${headers['x-service-timestamp']}.${body}`;
    for (const secret of secrets) {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      const mac = createHmac('sha256', key).update(signed).digest('base64');
      assert.ok(!String(headers['x-service-signature-v2']).includes(mac));
    }
    assert.equal((await owner.expect(200, 'GET', '/user/webhook-keys')).keys.length, 1);
  });

  it('notifies its owner of what has ended and what is kept, by mail and in the audit log', async () => {
    const first = await FirstPerson.register(api);
    await first.client.expect(200, 'POST', '/user/webhook-keys/rotate');
    const template = { name: 'invoice', content: '<p>{{ n }}</p>', sampleData: '{}' };
    const { id } = await first.client.expect(201, 'POST', '/user/templates', template);
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { pages: 1 };
    };
    for (let i = 0; i < 2; i += 1) await first.call('POST', '/v1/pdf', ASYNC);
    const owner = await takeOver(first.email);
    gate.open();
    const counts = { apiKeys: 2, signingKeys: 1, renders: 2, templates: 1 };
    assert.deepEqual(await mailsTo(api, first.email, 'account-taken-over'), [counts]);
    await owner.expect(200, 'GET', `/user/templates/${id}`);
    const { entries } = await owner.expect(200, 'GET', '/user/audit-log?action=account.taken_over');
    const written = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, `${count}`]));
    assert.deepEqual(
      entries.map(({ actor, details }: { actor: string; details: object }) => ({ actor, details })),
      [{ actor: 'account', details: written }],
    );
    assert.equal((await owner.expect(200, 'GET', '/user/audit-log?action=key.revoked')).total, 2);
    const [link] = await mailsTo(api, first.email, 'password-reset');
    assert.equal((link as { endsAll?: boolean }).endsAll, true, 'the link has said so before');
  });

  it('repeats nothing for its owner that the first person has named', async () => {
    const first = await FirstPerson.register(api);
    api.worker.render = async () => ({ fails: new PlatenError('URL_UNREACHABLE') });
    const webhookUrl = receiver.url('/first');
    const key = { 'idempotency-key': 'invoice-1' };
    const failed = (await first.call('POST', '/v1/pdf', { ...ASYNC, webhookUrl })).json.jobId;
    await first.client.call('POST', '/user/renders', { html: '<p>theirs</p>', mode: 'live' }, key);
    const items = ['a', 'b'].map((id) => ({ id, ...HTML }));
    const batch = (await first.call('POST', '/v1/pdf/batch', { items, webhookUrl })).json.jobId;
    await eventually('all have failed', async () => {
      await settle();
      const { status } = (await first.call('GET', `/v1/pdf/batch/${batch}`)).json;
      return status === 'completed' && receiver.received.length === 2;
    });
    receiver.received.length = 0;
    api.worker.render = async () => ({ pages: 1 });
    const owner = await takeOver(first.email);
    const { jobId } = await owner.expect(202, 'POST', `/user/renders/${failed}/retry`);
    const retried = (await owner.expect(202, 'POST', `/user/batches/${batch}/retry-failed`)).jobId;
    const mine = await owner.call('POST', '/user/renders', { html: '<p>mine</p>', mode: 'live' }, key);
    assert.equal(mine.status, 202, 'the key of another request of the first person is free');
    await eventually('all have ended', async () => {
      await settle();
      const { status } = await owner.expect(200, 'GET', `/user/batches/${retried}`);
      const render = await owner.expect(200, 'GET', `/user/renders/${jobId}`);
      return status === 'completed' && render.status === 'completed';
    });
    assert.deepEqual(receiver.received, []);
  });

  /** Begins a request, and sends its body once the returned function is called. @returns its status. */
  async function begun(path: string, json: unknown, headers: Record<string, string>) {
    const body = JSON.stringify(json);
    const request = httpRequest(api.url + path, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        expect: '100-continue',
      },
    });
    const status = new Promise<number | undefined>((resolve, reject) => {
      request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
    const isTaken = new Promise<void>((resolve) => request.on('continue', () => resolve()));
    request.flushHeaders();
    // The service takes the body once it has authenticated the request.
    await isTaken;
    request.write(body.slice(0, 5));
    return () => {
      request.end(body.slice(5));
      return status;
    };
  }

  it('admits no request that has begun before, however late its body arrives', async () => {
    const first = await FirstPerson.register(api);
    const template = { name: 'of the first person', content: '<p>x</p>', sampleData: '{}' };
    const bearer = { authorization: `Bearer ${first.client.token}` };
    const render = await begun('/v1/pdf', ASYNC, { 'x-api-key': first.liveKey });
    const save = await begun('/user/templates', template, bearer);
    const owner = await takeOver(first.email);
    assert.deepEqual([await render(), await save()], [401, 401]);
    const live = await api.domain.store.live.ofAccount(first.accountId, { skip: 0, limit: 10 });
    assert.deepEqual(live, []);
    assert.equal((await owner.expect(200, 'GET', '/user/templates')).total, 0);
  });

  it('keeps its keys when its address was confirmed before', async () => {
    const first = await FirstPerson.register(api);
    await first.browser.expect(202, 'POST', '/auth/email/verification');
    const [link] = await mailsTo(api, first.email, 'email-verification');
    const { token } = link as { token: string };
    await first.browser.expect(200, 'POST', '/auth/email/verify', { token });
    await takeOver(first.email);
    assert.equal((await first.call('GET', '/v1/pdf/jobs')).status, 200);
    assert.equal((await first.client.get('/user/usage')).status, 401);
    assert.deepEqual(await mailsTo(api, first.email, 'account-taken-over'), []);
    const reset = (await mailsTo(api, first.email, 'password-reset')).at(-1);
    assert.equal((reset as { endsAll?: boolean }).endsAll, undefined);
  });

  it('keeps its keys when the operator has made it', async () => {
    const caller = await api.newCaller();
    const account = await api.accounts.findNow(caller.accountId);
    await api.tenants.accountService.resetPassword(account!, NEW_PASSWORD, { actor: 'operator' });
    await api.domain.connection
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: caller.accountId }, { $set: { byOperator: true } });
    await takeOver(account!.email!);
    assert.equal((await caller.get('/v1/pdf/jobs')).status, 200);
  });
});
