import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Agent } from 'undici';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { CallbackSender } from '../../../src/work/callbacks/sender.ts';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { NameServer } from '../egress/support/name-server.ts';
import { openApi, type TestApi, type TestCaller } from '../http/support/api.ts';
import { openSender, Receiver, testAgent } from './support.ts';

const HTML = { html: '<p>x</p>' };
const ITEMS = ['a', 'b', 'c'].map((id) => ({ id, ...HTML }));

describe('A callback', () => {
  let api: TestApi;
  let names: NameServer;
  let agent: Agent;
  let receiver: Receiver;
  let sender: CallbackSender;
  let caller: TestCaller;
  let owner: AccountClient;

  before(async () => {
    names = await NameServer.start();
    api = await openApi();
    agent = testAgent();
    receiver = await Receiver.start();
    sender = openSender(api.domain, agent);
  });
  after(async () => {
    await sender.stop(0);
    await agent.destroy();
    await Promise.all([receiver.close(), names.close()]);
    await api.close();
  });
  beforeEach(async () => {
    receiver.received.length = 0;
    receiver.respond = (_request, response) => response.writeHead(204).end();
    api.worker.render = async () => ({ pages: 1 });
    caller = await api.newCaller();
    owner = new AccountClient(api.url, (await api.tenants.tokens.issue(caller.accountId)).token);
  });

  const deliveries = async () => (await owner.expect(200, 'GET', '/user/webhook-deliveries')).deliveries;
  /** What became of the one callback of the account, once it has been tried. */
  async function tried() {
    // Sent until it has been: a callback is listed for its owner a moment before it is one to be sent.
    await eventually('its callback has been tried', async () => {
      await sender.send();
      await sender.idle();
      const [delivery] = await deliveries();
      return delivery?.attemptCount > 0;
    });
    const all = await deliveries();
    assert.equal(all.length, 1);
    return all[0];
  }
  const renderFor = (webhookUrl: string) => caller.render({ ...HTML, executionMode: 'async', webhookUrl });

  it('reports a batch once, whatever became of its items', async () => {
    api.worker.render = async ({ item }) =>
      item?.id === 'b' ? { fails: new PlatenError('URL_UNREACHABLE') } : { pages: 1 };
    const reply = await caller.post('/v1/pdf/batch', { items: ITEMS, webhookUrl: receiver.url() });
    assert.equal(reply.status, 202);
    const { jobId } = reply.json;
    const delivery = await tried();
    await api.domain.flush();
    await sender.send();
    await sender.idle();
    assert.equal(receiver.received.length, 1);
    const { finishedAt } = (await caller.get(`/v1/pdf/batch/${jobId}`)).json;
    assert.deepEqual(JSON.parse(receiver.received[0]!.body), {
      event: 'batch.completed',
      jobId,
      status: 'completed',
      statusUrl: `https://platen.test/v1/pdf/batch/${jobId}`,
      zipUrl: `https://platen.test/v1/pdf/batch/${jobId}/zip`,
      completedAt: finishedAt,
    });
    assert.deepEqual(
      [
        delivery.event,
        delivery.status,
        delivery.attemptCount,
        delivery.responseStatus,
        delivery.nextAttemptAt,
      ],
      ['batch.completed', 'delivered', 1, 204, null],
    );
    assert.equal((await api.domain.batches.store.find(jobId))?.callback, 'delivered');
  });

  it('reports a batch that was cancelled', async () => {
    const held = Promise.withResolvers<void>();
    api.worker.render = async () => {
      await held.promise;
      return { pages: 1 };
    };
    const items = Array.from({ length: 30 }, (_, i) => ({ id: `item-${i}`, ...HTML }));
    const { jobId } = (await caller.post('/v1/pdf/batch', { items, webhookUrl: receiver.url() })).json;
    assert.equal((await caller.delete(`/v1/pdf/batch/${jobId}`)).status, 200);
    held.resolve();
    await tried();
    const { event, status } = JSON.parse(receiver.received[0]!.body);
    assert.deepEqual([event, status], ['batch.completed', 'cancelled']);
  });

  it('notes at the batch that its callback has failed', async () => {
    receiver.respond = (_request, response) => response.writeHead(410).end();
    const { jobId } = (await caller.post('/v1/pdf/batch', { items: ITEMS, webhookUrl: receiver.url() })).json;
    assert.equal((await tried()).status, 'failed');
    assert.equal((await api.domain.batches.store.find(jobId))?.callback, 'failed');
  });

  it('reports a single render that has completed', async () => {
    const { jobId } = (await renderFor(receiver.url())).json;
    await tried();
    const { completedAt, ...rest } = JSON.parse(receiver.received[0]!.body);
    assert.ok(Date.parse(completedAt) <= Date.now());
    assert.deepEqual(rest, {
      event: 'render.completed',
      jobId,
      status: 'completed',
      statusUrl: `https://platen.test/v1/pdf/jobs/${jobId}`,
      fileUrl: `https://platen.test/v1/pdf/jobs/${jobId}/file`,
    });
  });

  it('reports a single render that has failed, and why', async () => {
    api.worker.render = async () => ({ fails: new PlatenError('TEMPLATE_ERROR') });
    await renderFor(receiver.url());
    await tried();
    const { event, status, error, fileUrl } = JSON.parse(receiver.received[0]!.body);
    assert.deepEqual(
      [event, status, error.code, fileUrl],
      ['render.failed', 'failed', 'TEMPLATE_ERROR', undefined],
    );
  });

  it('is scheduled only on request', async () => {
    await caller.render({ ...HTML, executionMode: 'async' });
    const { jobId } = (await caller.post('/v1/pdf/batch', { items: ITEMS })).json;
    await eventually(
      'it has ended',
      async () => (await caller.get(`/v1/pdf/batch/${jobId}`)).json.finishedAt,
    );
    await api.domain.flush();
    assert.deepEqual(await deliveries(), []);
  });

  it('is sent again on request, under its id, for its owner alone', async () => {
    receiver.respond = (_request, response) => response.writeHead(410).end();
    await renderFor(receiver.url());
    const { id, status } = await tried();
    assert.equal(status, 'failed');
    receiver.respond = (_request, response) => response.writeHead(200).end();
    const path = `/user/webhook-deliveries/${id}/redeliver`;
    const stranger = await api.newCaller();
    const { token } = await api.tenants.tokens.issue(stranger.accountId);
    await new AccountClient(api.url, token).expect(404, 'POST', path);
    const again = await owner.expect(202, 'POST', path);
    assert.deepEqual([again.id, again.status, again.attemptCount], [id, 'pending', 0]);
    assert.equal((await tried()).status, 'delivered');
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery-id']);
    assert.deepEqual(ids, [id, id]);
  });

  it('is shown to its owner with its body and each attempt to send it', async () => {
    receiver.respond = (_request, response) => response.writeHead(500).end();
    const { jobId } = (await renderFor(receiver.url())).json;
    const { id } = await tried();
    receiver.respond = (_request, response) => response.writeHead(204).end();
    await owner.expect(202, 'POST', `/user/webhook-deliveries/${id}/redeliver`);
    await tried();
    const shown = await owner.expect(200, 'GET', `/user/webhook-deliveries/${id}`);
    // The sender here has another public address than the API.
    const sent = receiver.received[0]!.body.replaceAll('https://platen.test', api.url);
    assert.deepEqual(shown.payload, JSON.parse(sent));
    const attempts = shown.attempts.map(({ responseStatus, error }: Record<string, unknown>) => [
      responseStatus,
      error,
    ]);
    assert.deepEqual(attempts, [
      [500, 'The receiver responded with status 500.'],
      [204, null],
    ]);
    const list = async (query: string) =>
      (await owner.expect(200, 'GET', `/user/webhook-deliveries?${query}`)).total;
    assert.equal(await list(`jobId=${jobId}`), 1);
    assert.equal(await list(`jobId=${jobId}&status=failed`), 0);
    assert.equal(await list(`jobId=${id}`), 0);
    const stranger = await api.newCaller();
    const { token } = await api.tenants.tokens.issue(stranger.accountId);
    const theirs = new AccountClient(api.url, token);
    await theirs.expect(404, 'GET', `/user/webhook-deliveries/${id}`);
    assert.equal((await theirs.expect(200, 'GET', `/user/webhook-deliveries?jobId=${jobId}`)).total, 0);
  });

  it('is shown with what the receiver has responded, without its secrets', async () => {
    const secret = 'c2VjcmV0LXRoYXQtaXMtbG9uZw';
    receiver.respond = (_request, response) =>
      response
        .writeHead(500, {
          'content-type': 'text/plain',
          'set-cookie': [`session=${secret}`, 'a=b'],
          'x-auth-token': secret,
          location: `https://shop.example/retry?token=${secret}&page=2`,
          'x-long': `${'y'.repeat(2000)}${secret}`,
        })
        .end(`${'ü'.repeat(1023)}€ and more`);
    await renderFor(receiver.url());
    const { id } = await tried();
    receiver.respond = (_request, response) => response.writeHead(200).end(Buffer.from([0xff, 0xfe]));
    await owner.expect(202, 'POST', `/user/webhook-deliveries/${id}/redeliver`);
    await tried();
    const shown = await owner.expect(200, 'GET', `/user/webhook-deliveries/${id}`);
    const [failed, arrived] = shown.attempts;
    assert.deepEqual([failed.response.body, failed.response.bodyIsCut], ['ü'.repeat(1023), true]);
    const headers = Object.fromEntries(
      failed.response.headers.map(({ name, value }: Record<string, string>) => [name, value]),
    );
    assert.deepEqual(
      [headers['content-type'], headers['set-cookie'], headers['x-auth-token'], headers.location],
      ['text/plain', '***', '***', 'https://shop.example/retry?token=***&page=2'],
    );
    assert.equal(headers['x-long'].length, 256);
    assert.ok(!JSON.stringify(shown).includes(secret));
    assert.deepEqual([arrived.response.body, arrived.response.bodyIsCut], [null, false]);
    for (const { durationMs } of shown.attempts) assert.ok(Number.isInteger(durationMs) && durationMs >= 0);
    // A third attempt takes the place of the first one's response.
    await owner.expect(202, 'POST', `/user/webhook-deliveries/${id}/redeliver`);
    await tried();
    const { attempts } = await owner.expect(200, 'GET', `/user/webhook-deliveries/${id}`);
    assert.deepEqual(
      attempts.map(({ response }: { response: unknown }) => response !== null),
      [false, true, true],
    );
  });

  it('is sent as a test, signed, to an allowed address', async () => {
    const test = await owner.expect(202, 'POST', '/user/webhook-deliveries/test', { url: receiver.url() });
    assert.deepEqual([test.event, test.status], ['webhook.test', 'pending']);
    assert.equal((await tried()).status, 'delivered');
    const [got] = receiver.received;
    assert.match(String(got!.headers['x-service-signature-v2']), /^v2,/);
    const { event, statusUrl } = JSON.parse(got!.body);
    assert.deepEqual(
      [event, new URL(statusUrl).pathname],
      ['webhook.test', `/user/webhook-deliveries/${test.id}`],
    );
    for (const url of ['https://10.0.0.1/hook', 'http://example.com/hook'])
      await owner.expect(400, 'POST', '/user/webhook-deliveries/test', { url });
    await api.accounts.setPlan(caller.accountId, 'free');
    api.domain.clock.pass(1000);
    await owner.expect(403, 'POST', '/user/webhook-deliveries/test', { url: receiver.url() });
  });

  it('is listed by state, page by page', async () => {
    await renderFor(receiver.url());
    await tried();
    const list = (query: string) => owner.expect(200, 'GET', `/user/webhook-deliveries${query}`);
    assert.equal((await list('?status=delivered')).total, 1);
    assert.equal((await list('?status=failed')).total, 0);
    assert.deepEqual((await list('?offset=1&sort=created_asc')).deliveries, []);
    await owner.expect(400, 'GET', '/user/webhook-deliveries?status=lost');
  });

  it('shows the secret of a new key once, and of no other key', async () => {
    assert.deepEqual((await owner.expect(200, 'GET', '/user/webhook-keys')).keys, []);
    const first = await owner.expect(200, 'POST', '/user/webhook-keys/rotate');
    const second = await owner.expect(200, 'POST', '/user/webhook-keys/rotate');
    assert.match(first.secret, /^whsec_/);
    assert.notEqual(first.secret, second.secret);
    const { keys } = await owner.expect(200, 'GET', '/user/webhook-keys');
    assert.deepEqual(
      keys.map(({ id, status }: { id: string; status: string }) => [id, status]),
      [
        [second.id, 'active'],
        [first.id, 'retiring'],
      ],
    );
    assert.ok(!JSON.stringify(keys).includes('whsec_'));
    const { total } = await owner.expect(200, 'GET', '/user/audit-log?action=webhook_key.rotated');
    assert.equal(total, 2);
    assert.ok(!api.log.some((line) => line.includes(first.secret)));
  });

  describe('is rejected at registration', () => {
    const submissions = {
      'a render': (webhookUrl: string, by: TestCaller) =>
        by.render({ ...HTML, executionMode: 'async', webhookUrl }),
      'a batch': (webhookUrl: string, by: TestCaller) =>
        by.post('/v1/pdf/batch', { items: ITEMS, webhookUrl }),
    };
    for (const [what, submit] of Object.entries(submissions)) {
      for (const [url, code] of [
        ['http://93.184.215.14/', 'VALIDATION'],
        ['https://user:secret@93.184.215.14/', 'INVALID_URL'],
        ['https://10.0.0.1/', 'URL_BLOCKED'],
        ['https://[::1]/', 'URL_BLOCKED'],
        ['https://0x7f000001/', 'URL_BLOCKED'],
        ['https://169.254.169.254/latest', 'URL_BLOCKED'],
        ['https://localhost/', 'URL_BLOCKED'],
        ['https://93.184.215.14:25/', 'URL_BLOCKED'],
      ] as const) {
        it(`because of ${what}: ${url}`, async () => {
          const { status, json } = await submit(url, caller);
          assert.deepEqual([status, json.code], [400, code]);
        });
      }

      it(`for ${what} under a plan without callbacks`, async () => {
        for (const plan of ['free', 'starter']) {
          const poor = await api.newCaller();
          await api.accounts.setPlan(poor.accountId, plan);
          const { status, json } = await submit(receiver.url(), poor);
          assert.deepEqual([status, json.code], [403, 'PLAN_LIMIT'], plan);
        }
      });
    }

    it('for a synchronous render', async () => {
      const { status, json } = await caller.render({ ...HTML, webhookUrl: receiver.url() });
      assert.equal(status, 400);
      assert.deepEqual(json.message, ['webhookUrl: may only be given together with executionMode async']);
    });

    it('but not by the address of a name: names are not resolved, so none is revealed', async () => {
      names.set('inside.test', ['93.184.215.14', '10.0.0.1']);
      for (const name of [`${randomUUID()}.test`, 'inside.test'])
        assert.equal((await renderFor(`https://${name}/`)).status, 202);
      assert.equal(names.asked('A', 'inside.test'), 0);
    });
  });
});
