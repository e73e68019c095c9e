import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'puppeteer';
import { barriersOf } from '../../support/barriers.ts';
import { eventually } from '../../support/eventually.ts';
import { openWebBrowser, watchPage } from '../../support/web-browser.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { ANNA, BEN, MARKER, serveAdmin, type TestAdmin } from './support/admin.ts';

const PAGES = ['', '/accounts', '/workers', '/jobs', '/messages', '/billing', '/audit'];
const HOSTILE = '"><script>alert(1)</script>@example.com';

describe('The pages of the administration', () => {
  let api: TestApi;
  let admin: TestAdmin;
  let browser: Browser;
  let page: Page;
  let accountId: string;
  let failed: string;
  const complaints: string[] = [];
  before(async () => {
    api = await openApi();
    admin = await serveAdmin(api);
    ({
      accountId,
      ids: [failed = ''],
    } = await admin.failedJobs(2));
    await api.accounts.create(HOSTILE, null, 'free');
    browser = await openWebBrowser();
    page = await browser.newPage();
    watchPage(page, admin.url, complaints);
    await page.authenticate({ username: 'anybody', password: ANNA });
  });
  after(async () => {
    await browser?.close();
    await admin.close();
    await api.close();
  });

  const shown = () => page.evaluate(() => document.body.textContent);

  for (const path of PAGES) {
    it(`/admin${path} has no barrier in light or dark colours, runs no script and is not kept`, async () => {
      for (const value of ['light', 'dark']) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
        const response = await page.goto(`${admin.url}/admin${path}`);
        assert.equal(response?.status(), 200);
        const { 'content-security-policy': policy, 'cache-control': cached } = response!.headers();
        assert.match(policy!, /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'/);
        assert.equal(cached, 'no-store');
        assert.deepEqual(await barriersOf(page), []);
        assert.ok(!(await page.content()).includes(MARKER));
      }
      assert.deepEqual(complaints, []);
    });
  }

  it('show what accounts have chosen as text', async () => {
    await page.goto(`${admin.url}/admin/accounts`);
    assert.ok((await shown())?.includes(HOSTILE));
    assert.equal(await page.evaluate(() => document.scripts.length), 0);
  });

  it('suspend and resume an account that was searched for, as the operator whose token it is', async () => {
    await page.goto(`${admin.url}/admin/accounts?search=${accountId}`);
    await page.type('input[name=reason]', 'abuse');
    await Promise.all([page.waitForNavigation(), page.click('button[aria-label^=Suspend]')]);
    assert.ok((await api.accounts.findNow(accountId))?.suspendedAt !== undefined);
    await page.goto(`${admin.url}/admin/accounts?search=${accountId}`);
    await Promise.all([page.waitForNavigation(), page.click('button[aria-label^=Resume]')]);
    assert.equal((await api.accounts.findNow(accountId))?.suspendedAt, undefined);
    await page.goto(`${admin.url}/admin/audit`);
    assert.match((await shown()) ?? '', /anna\s*account\.suspended/);
  });

  it('render a failed job again', async () => {
    await page.goto(`${admin.url}/admin/jobs?state=failed&errorCode=URL_UNREACHABLE&accountId=${accountId}`);
    await Promise.all([page.waitForNavigation(), page.click(`button[aria-label="Retry ${failed}"]`)]);
    await eventually('it was rendered once more', async () => {
      const rows = await admin.allRows(`/admin/api/jobs?state=completed&accountId=${accountId}`);
      return rows.some(({ retryOf }) => retryOf === failed);
    });
    assert.deepEqual(complaints, []);
  });

  it('delete an account whose address was typed, and show that it is being deleted', async () => {
    const email = `${randomUUID()}@example.com`;
    const { _id } = (await api.accounts.create(email, null, 'free'))!;
    await page.goto(`${admin.url}/admin/accounts?search=${email}`);
    await page.click('summary');
    await page.type('input[name=confirm]', email);
    assert.deepEqual(await barriersOf(page), []);
    await Promise.all([page.waitForNavigation(), page.click('button[aria-label^=Delete]')]);
    assert.ok((await api.accounts.findNow(_id))?.deletingSince !== undefined);
    await page.goto(`${admin.url}/admin/accounts?search=${email}`);
    assert.match((await shown()) ?? '', /is being deleted since 2/);
    assert.equal(await page.$('button[aria-label^=Resume]'), null);
    assert.deepEqual(complaints, []);
  });

  it('ask for the token, and refuse what a page of another origin sends', async () => {
    assert.equal((await admin.call('GET', '/admin', undefined, {})).status, 401);
    const authorization = `Basic ${Buffer.from(`x:${BEN}`).toString('base64')}`;
    const path = `/admin/act/accounts/${accountId}/suspend`;
    for (const origin of ['https://elsewhere.example', 'null'])
      assert.equal((await admin.call('POST', path, 'reason=x', { authorization, origin })).status, 403);
    const own = { authorization, origin: admin.url };
    assert.equal((await admin.call('POST', path, 'reason=', own)).status, 400);
    assert.equal((await admin.call('POST', path.replace('suspend', 'delete'), 'confirm=', own)).status, 400);
    assert.equal((await admin.call('POST', path.replace('suspend', 'nothing'), '', own)).status, 404);
    assert.equal((await api.accounts.findNow(accountId))?.suspendedAt, undefined);
  });
});
