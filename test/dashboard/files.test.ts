import assert from 'node:assert/strict';
import { sharedStandaloneService, type TestService } from '../support/service.ts';

describe('The files of the dashboard', () => {
  let service: TestService;
  before(async () => {
    service = await sharedStandaloneService();
  });

  it('are one page for each address of the application, and none for a part that is gone', async () => {
    const page = await fetch(`${service.url}/dashboard/renders/1`);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type')!, /^text\/html/);
    assert.match(page.headers.get('content-security-policy')!, /require-trusted-types-for 'script'/);
    assert.equal(page.headers.get('cache-control'), 'no-cache');
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(page.headers.get('cross-origin-opener-policy'), 'same-origin');
    const html = await page.text();
    const script = /src="(\/dashboard\/assets\/[^"]+\.js)"/.exec(html)![1]!;
    const asset = await fetch(service.url + script, { headers: { 'accept-encoding': 'br' } });
    assert.equal(asset.headers.get('content-encoding'), 'br');
    assert.match(asset.headers.get('cache-control')!, /immutable/);
    const gone = await fetch(`${service.url}/dashboard/assets/gone-123.js`);
    assert.equal(gone.status, 404);
    assert.match(gone.headers.get('content-type')!, /^application\/json/);
    const root = await fetch(service.url, { redirect: 'manual' });
    assert.deepEqual([root.status, root.headers.get('location')], [302, '/dashboard']);
  });
});
