import assert from 'node:assert/strict';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { callApi, type TestCaller, useApi } from '../http/support/api.ts';

/** One of each kind, none of which may be seen in the log. */
const SECRETS = {
  header: 'secret-of-an-asset-header',
  cookie: 'secret-of-a-cookie',
  user: 'secret-user-password',
  owner: 'secret-owner-password',
  address: 'c2VjcmV0IG9mIGFuIGFkZHJlc3M',
  data: 'secret-of-the-data',
};
const MARK = 'x'.repeat(300);

describe('What was said in a request of the log', () => {
  const api = useApi({ plan: { retentionHours: 2 } });
  let caller: TestCaller;
  let owner: AccountClient;

  beforeEach(async () => {
    api.worker.render = async () => ({ pages: 1 });
    caller = await api.newCaller();
    owner = new AccountClient(api.url, (await api.tenants.tokens.issue(caller.accountId)).token);
  });

  /** The newest request of the log, with what was said in it. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into the body
  async function newest(): Promise<any> {
    let id: string | undefined;
    await eventually('it is in the log', async () => {
      await api.domain.usage.flush();
      [{ id } = { id: undefined }] = (await owner.expect(200, 'GET', '/user/request-logs')).logs;
      return id !== undefined;
    });
    return owner.expect(200, 'GET', `/user/request-logs/${id}`);
  }

  it('is its headers and bodies, with long values cut and without secrets of any kind', async () => {
    const { status } = await caller.post('/v1/pdf', {
      html: `<p>hello ${MARK}`,
      executionMode: 'async',
      webhookUrl: `https://example.com/hook?token=${SECRETS.address}`,
      options: {
        assetHeaders: { 'X-Asset': SECRETS.header },
        assetOrigins: ['https://assets.example'],
        cookies: [{ name: 'session', value: SECRETS.cookie, domain: 'assets.example' }],
        protection: { userPassword: SECRETS.user, ownerPassword: SECRETS.owner },
        waitForSelector: '#total',
      },
    });
    const logged = await newest();
    const { path, request, response } = logged.said;
    const text = JSON.stringify(logged);
    for (const [kind, secret] of Object.entries({ ...SECRETS, key: caller.secret }))
      assert.ok(!text.includes(secret), kind);
    assert.deepEqual([logged.statusCode, path], [status, '/v1/pdf']);
    const sent = JSON.parse(request.body.text);
    assert.match(sent.html, /^<p>hello x+… \(309 characters\)$/);
    assert.ok(sent.html.length < 240);
    assert.equal(sent.options.waitForSelector, '#total');
    assert.deepEqual(sent.options.protection, { userPassword: '***', ownerPassword: '***' });
    assert.equal(sent.options.cookies[0].name, 'session');
    assert.equal(request.body.isWhole, false);
    assert.deepEqual(headerOf(request.headers, 'x-api-key'), '***');
    assert.equal(response.body.type, 'application/json; charset=utf-8');
    assert.match(JSON.parse(response.body.text).jobId, /^[0-9a-f-]{36}$/);
  });

  it('is of a rejected request also why, and of a body that is no JSON its type and size', async () => {
    const { json } = await caller.post('/v1/pdf', { url: 'ftp://nowhere' });
    let { request, response } = (await newest()).said;
    assert.deepEqual(JSON.parse(response.body.text).code, json.code);
    assert.deepEqual([JSON.parse(request.body.text), request.body.isWhole], [{ url: 'ftp://nowhere' }, true]);
    const broken = '{"html": "<p>secret';
    const headers = { 'x-api-key': caller.secret, 'content-type': 'application/json' };
    api.domain.clock.pass(1000);
    assert.equal((await fetch(`${api.url}/v1/pdf`, { method: 'POST', headers, body: broken })).status, 400);
    ({ request, response } = (await newest()).said);
    assert.deepEqual(request.body, {
      type: 'application/json',
      size: broken.length,
      text: null,
      isWhole: false,
    });
    assert.equal(JSON.parse(response.body.text).code, 'MALFORMED_JSON');
  });

  it('is of a PDF its type and size, and of one in base64 that', async () => {
    await caller.post('/v1/pdf', { html: '<p>x' });
    const { response } = (await newest()).said;
    assert.equal(response.body.type, 'application/pdf');
    assert.ok(response.body.size > 0 && response.body.text === null);
    api.domain.clock.pass(1000);
    await caller.post('/v1/pdf', { html: '<p>x', output: 'base64' });
    const { body } = (await newest()).said.response;
    assert.ok(body.text.length < 4500 && !body.text.includes('JVBERi0xLj'), body.text);
  });

  it('is shown to its account alone, for as long as PDFs are kept', async () => {
    await caller.post('/v1/pdf', { html: '<p>x' });
    const { id, said } = await newest();
    const stranger = await api.newCaller();
    const { token } = await api.tenants.tokens.issue(stranger.accountId);
    await new AccountClient(api.url, token).expect(404, 'GET', `/user/request-logs/${id}`);
    assert.ok(Date.parse(said.keptUntil) <= api.domain.clock.now().getTime() + 2 * 3_600_000);
    api.domain.clock.pass(2 * 3_600_000 + 1);
    assert.equal((await owner.expect(200, 'GET', `/user/request-logs/${id}`)).said, null);
    const { requestDetails } = api.domain.usage;
    const record = () => requestDetails.find(`${caller.accountId}:${id}`);
    await requestDetails.deleteOld(new Date(Date.parse(said.keptUntil) - 1));
    assert.notEqual(await record(), undefined);
    await requestDetails.deleteOld(api.domain.clock.now());
    assert.equal(await record(), undefined);
  });

  it('is kept by no account that has it turned off, and not shown of before', async () => {
    await caller.post('/v1/pdf', { html: '<p>x' });
    const before = await newest();
    assert.notEqual(before.said, null);
    await owner.expect(200, 'PUT', '/user/request-logs/details', { kept: false });
    api.domain.clock.pass(2000);
    assert.equal((await owner.expect(200, 'GET', `/user/request-logs/${before.id}`)).said, null);
    const { detailsKept, detailsKeptHours } = await owner.expect(200, 'GET', '/user/request-logs');
    assert.deepEqual([detailsKept, detailsKeptHours], [false, 2]);
    await caller.post('/v1/pdf', { html: '<p>y' });
    await owner.expect(202, 'POST', '/user/renders', { html: '<p>z' });
    await api.domain.usage.flush();
    const records = api.domain.connection.collection<{ _id: string }>('request_log_details');
    const own = { _id: { $gte: `${caller.accountId}:`, $lt: `${caller.accountId};` } };
    assert.equal(await records.countDocuments(own), 1);
    const { entries } = await owner.expect(
      200,
      'GET',
      '/user/audit-log?action=account.request_details_changed',
    );
    assert.deepEqual(entries[0].details, { kept: 'false' });
    await owner.expect(200, 'PUT', '/user/request-logs/details', { kept: true });
    api.domain.clock.pass(2000);
    await callApi(api.url, 'POST', '/v1/pdf', { html: '<p>x' }, { 'x-api-key': caller.secret });
    assert.notEqual((await newest()).said, null);
  });

  it('waits in bounded memory, also while nothing can be written', async () => {
    const { requestDetails } = api.domain.usage;
    const records = api.domain.connection.collection('request_log_details');
    const before = await records.countDocuments();
    const side = { headers: [], body: { type: 'a/b', size: 1, text: 'x'.repeat(4000), isWhole: true } };
    const endsAt = api.domain.clock.now();
    for (let i = 0; i < 2500; i += 1)
      requestDetails.add({ _id: `bounded:${i}`, path: '/v1/pdf', request: side, response: side, endsAt });
    await requestDetails.flush();
    await requestDetails.flush();
    const written = (await records.countDocuments()) - before;
    assert.ok(written > 900 && written <= (8 * 1024 * 1024) / 8000, `${written} were held`);
    // What was written makes room for others.
    requestDetails.add({ _id: 'bounded:last', path: '', request: side, response: side, endsAt });
    await requestDetails.flush();
    assert.equal((await records.countDocuments()) - before, written + 1);
  });
});

function headerOf(headers: readonly { name: string; value: string }[], wanted: string): string | undefined {
  return headers.find(({ name }) => name === wanted)?.value;
}
