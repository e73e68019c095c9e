import assert from 'node:assert/strict';
import { openApi, type TestApi } from '../http/support/api.ts';

const PATH = '/public/auto-overage/disable';

describe('The public page that switches auto overage off', () => {
  let api: TestApi;
  let token: string;
  let disabled: string[];
  let takes = true;

  before(async () => {
    api = await openApi({
      autoOverage: {
        async disable(accountId, because) {
          disabled.push(`${accountId} ${because}`);
          return takes;
        },
      },
    });
  });
  after(() => api?.close());
  beforeEach(async () => {
    disabled = [];
    takes = true;
    token = await api.disableLinks.sign('account-1', api.domain.clock.now());
  });

  const get = (query: string) => fetch(`${api.url}${PATH}${query}`);
  const post = (body: string, type = 'application/x-www-form-urlencoded') =>
    fetch(`${api.url}${PATH}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': type },
      body,
    });
  const target = (response: Response) => [response.status, response.headers.get('location')];
  const DONE = [303, '/dashboard/billing?autoOverageDisabled=1'];
  const NOT_DONE = [303, '/dashboard/billing?autoOverageDisabled=0'];

  it('shows a form, and changes nothing however often it is fetched', async () => {
    for (let count = 0; count < 3; count += 1) {
      const response = await get(`?token=${token}`);
      const page = await response.text();
      assert.equal(response.status, 200);
      assert.match(page, /<form method="post" action="\/public\/auto-overage\/disable">/);
      assert.ok(page.includes(`name="token" value="${token}"`));
    }
    await fetch(`${api.url}${PATH}?token=${token}`, { method: 'HEAD' });
    assert.deepEqual(disabled, []);
  });

  it('is not indexed, cached or framed, and runs no script', async () => {
    for (const asked of [token, 'forged']) {
      const { headers } = await get(`?token=${asked}`);
      assert.match(headers.get('x-robots-tag')!, /noindex/);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.match(headers.get('content-security-policy')!, /default-src 'none';.*frame-ancestors 'none'/);
    }
  });

  it('shows no form, and nothing of the token, when that is not valid', async () => {
    for (const forged of ['forged', `${token}x`, `${token}"><script>alert(1)</script>`, '<b>x</b>']) {
      const response = await get(`?token=${encodeURIComponent(forged)}`);
      const page = await response.text();
      assert.equal(response.status, 200);
      assert.doesNotMatch(page, /<form|<script|<b>x/);
      assert.match(page, /This link is not valid/);
    }
  });

  it('shows no form where a mail program has lost the token, doubled it or changed the link', async () => {
    for (const query of ['', '?', '?token', '?token=', '?other=1', '?token=a&token=b', '?token[x]=1']) {
      const response = await get(query);
      assert.equal(response.status, 200, query);
      assert.match(response.headers.get('content-type')!, /^text\/html/, query);
      assert.match(await response.text(), /This link is not valid/, query);
    }
    assert.match(await (await get(`?utm_source=mail&token=${token}`)).text(), /<form method="post"/);
  });

  it('switches it off by a form or by JSON', async () => {
    assert.deepEqual(target(await post(`token=${token}`)), DONE);
    assert.deepEqual(target(await post(JSON.stringify({ token }), 'application/json')), DONE);
    assert.deepEqual(disabled, ['account-1 link', 'account-1 link']);
  });

  it('reports when it changed nothing', async () => {
    for (const body of ['token=forged', 'token=', '', '{', '{"token": 5}', 'other=1'])
      assert.deepEqual(target(await post(body)), NOT_DONE, body);
    assert.deepEqual(disabled, []);
    takes = false;
    assert.deepEqual(target(await post(`token=${token}`)), NOT_DONE);
  });

  it('expires with the link', async () => {
    api.domain.clock.pass(31 * 86_400_000);
    assert.match(await (await get(`?token=${token}`)).text(), /This link is not valid/);
    assert.deepEqual(target(await post(`token=${token}`)), NOT_DONE);
  });
});
