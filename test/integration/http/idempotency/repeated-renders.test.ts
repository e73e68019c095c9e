import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../../src/infra/errors/registry.ts';
import { quotaPeriod } from '../../../../src/tenants/plans/quota-period.ts';
import { eventually } from '../../../support/eventually.ts';
import { startMongo } from '../../../support/mongo.ts';
import { openApi, type TestApi, type TestCaller } from '../support/api.ts';
import { latch } from '../support/test-worker.ts';

const DAY_MS = 86_400_000;
const BODY = { html: '<p>x</p>' };

describe('Repeated POST /v1/pdf with an Idempotency-Key', () => {
  let api: TestApi;
  let other: TestApi;
  let caller: TestCaller;
  let key: string;
  let renders: number;
  before(async () => {
    const { uri } = await startMongo();
    api = await openApi({ uri });
    other = await openApi({ uri });
  });
  after(async () => {
    await other.close();
    await api.close();
  });
  beforeEach(async () => {
    caller = await api.newCaller();
    key = randomUUID();
    renders = 0;
    api.state.rejection = undefined;
    for (const { worker } of [api, other]) {
      worker.render = async () => {
        renders += 1;
        return { pages: renders };
      };
    }
  });
  const ask = (body: unknown = BODY, name = key) => caller.render(body, { 'idempotency-key': name });
  const used = () => api.domain.ledger.quotaUsed(caller.accountId, quotaPeriod(api.domain.clock.now()));

  it('responds with the PDF of the first one, and renders and charges once', async () => {
    const first = await ask();
    assert.equal(first.headers.get('idempotent-replayed'), null);
    for (const again of [await ask(), await caller.at(api.url).render(BODY, { 'idempotency-key': key })]) {
      assert.equal(again.status, 200);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.deepEqual(again.bytes, first.bytes);
      for (const name of [
        'x-service-job-id',
        'x-service-pages',
        'content-disposition',
        'x-service-expires-at',
      ]) {
        assert.equal(again.headers.get(name), first.headers.get(name), name);
      }
    }
    assert.equal(renders, 1);
    assert.equal(await used(), 1);
  });

  it('responds with 202 and the same envelope again, even when the job has ended meanwhile', async () => {
    const body = { ...BODY, executionMode: 'async' };
    const first = await ask(body);
    assert.equal(first.status, 202);
    await eventually(
      'it is completed',
      async () => (await caller.get(`/v1/pdf/jobs/${first.json.jobId}`)).json.status === 'completed',
    );
    const again = await ask(body);
    assert.equal(again.status, 202);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(again.json, first.json);
    assert.equal(renders, 1);
  });

  it('responds with a link to the same PDF', async () => {
    const body = { ...BODY, output: 'url' };
    const [first, again] = [await ask(body), await ask(body)];
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(again.json.metadata, first.json.metadata);
    const pdfs = await Promise.all([first, again].map(async ({ json }) => (await fetch(json.url)).text()));
    assert.equal(pdfs[0], pdfs[1]);
    assert.equal(renders, 1);
  });

  it('responds with the same error when the document has caused it', async () => {
    api.worker.render = async () => {
      renders += 1;
      return { fails: new PlatenError('URL_UNREACHABLE') };
    };
    const [first, again] = [await ask(), await ask()];
    assert.equal(first.status, 400);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual({ ...again.json, requestId: '' }, { ...first.json, requestId: '' });
    assert.equal(renders, 1);
    assert.equal(await used(), 0);
  });

  it('renders again after an error of the service', async () => {
    api.worker.render = async () => ({ fails: new PlatenError('RENDER_TIMEOUT') });
    const first = await ask();
    assert.equal(first.status, 504);
    api.worker.render = async () => ({ pages: 1 });
    const again = await ask();
    assert.equal(again.status, 200);
    assert.notEqual(again.headers.get('x-service-job-id'), first.json.jobId);
    assert.equal(await used(), 1);
  });

  it('rejects a body that differs by a byte', async () => {
    await ask(JSON.stringify(BODY));
    for (const body of [JSON.stringify({ html: '<p>y</p>' }), `${JSON.stringify(BODY)} `]) {
      const refused = await ask(body);
      assert.equal(refused.status, 409);
      assert.equal(refused.json.code, 'IDEMPOTENCY_MISMATCH');
    }
    assert.equal((await ask(JSON.stringify(BODY))).status, 200);
  });

  it('is rejected by each process while the first is still being processed, and replayed after that', async () => {
    const gate = latch();
    api.worker.render = async () => {
      renders += 1;
      await gate.opened;
      return { pages: 1 };
    };
    const first = ask();
    await eventually('it runs', () => renders === 1);
    for (const url of [api.url, other.url]) {
      const refused = await caller.at(url).render(BODY, { 'idempotency-key': key });
      assert.equal(refused.status, 409);
      assert.equal(refused.json.code, 'IDEMPOTENCY_IN_PROGRESS');
      assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    }
    gate.open();
    assert.equal((await first).status, 200);
    assert.equal((await ask()).headers.get('idempotent-replayed'), 'true');
    assert.equal(renders, 1);
  });

  it('of two at the same moment at two processes renders one, twenty times', async () => {
    for (let i = 0; i < 20; i += 1) {
      key = randomUUID();
      const responses = await Promise.all(
        [api, other].map(({ url }) => caller.at(url).render(BODY, { 'idempotency-key': key })),
      );
      const statuses = responses.map(({ status }) => status).sort();
      // The second comes while the first is processed, or after it.
      assert.ok(statuses[0] === 200 && [200, 409].includes(statuses[1]!), String(statuses));
      assert.equal(renders, i + 1);
    }
    assert.equal(await used(), 20);
  });

  it('frees the key when a request was rejected', async () => {
    api.state.rejection = new PlatenError('UNAVAILABLE', undefined, { retryAfterSeconds: 1 });
    assert.equal((await ask()).status, 503);
    api.state.rejection = undefined;
    assert.equal((await ask({ templateId: randomUUID() })).status, 404);
    assert.equal((await ask({ html: '' })).status, 400);
    assert.equal((await ask({ ...BODY, options: { timeoutMs: 299_999 } })).status, 403);
    const done = await ask();
    assert.equal(done.status, 200);
    assert.equal(done.headers.get('idempotent-replayed'), null);
    assert.equal(await used(), 1);
  });

  it('keeps the keys of accounts separate', async () => {
    const first = await ask();
    caller = await api.newCaller();
    const second = await ask({ html: '<p>another</p>' });
    assert.equal(second.status, 200);
    assert.notEqual(second.headers.get('x-service-job-id'), first.headers.get('x-service-job-id'));
  });

  for (const [what, bad] of Object.entries({
    'an empty one': '',
    'one of 256 characters': 'k'.repeat(256),
    'one with a tab': 'a\tb',
    'one that is not ASCII': 'clé',
  })) {
    it(`rejects ${what} with 400`, async () => {
      const refused = await ask(BODY, bad);
      assert.equal(refused.status, 400);
      assert.equal(refused.json.code, 'VALIDATION');
      assert.match(String(refused.json.message), /Idempotency-Key/);
    });
  }

  it('takes 255 characters, and every printable one', async () => {
    assert.equal((await ask(BODY, 'k'.repeat(255))).status, 200);
    assert.equal((await ask(BODY, `${key} !"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`)).status, 200);
  });

  it('forgets a key after a day', async () => {
    await ask();
    api.domain.clock.pass(DAY_MS + 1000);
    const again = await ask({ html: '<p>something else</p>' });
    assert.equal(again.status, 200);
    assert.equal(again.headers.get('idempotent-replayed'), null);
    api.domain.clock.pass(DAY_MS + 1000);
    assert.ok((await api.domain.idempotency.deleteExpired(api.domain.clock.now())) > 0);
    assert.equal(await api.domain.connection.collection('idempotency_keys').countDocuments(), 0);
  });

  it('gives the next request the response that the first did not wait for', async () => {
    const gate = latch();
    api.worker.render = async () => {
      renders += 1;
      await gate.opened;
      return { pages: 1 };
    };
    const leave = new AbortController();
    const first = fetch(`${api.url}/v1/pdf`, {
      method: 'POST',
      headers: { 'x-api-key': caller.secret, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(BODY),
      signal: leave.signal,
    }).catch(() => undefined);
    await eventually('it runs', () => renders === 1);
    leave.abort();
    await first;
    gate.open();
    await eventually('it is done', async () => (await ask()).status === 200);
    assert.equal(renders, 1, 'hanging up has not cancelled it');
    assert.equal(await used(), 1);
  });
});
