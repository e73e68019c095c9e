import assert from 'node:assert/strict';
import { type AccountClient, newEmail, PASSWORD, signUp } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { Visitor } from './support/visitor.ts';

/** One walk, whose steps follow from each other. */
describe('A session in the dashboard', () => {
  let service: TestService;
  let client: AccountClient;
  let visitor: Visitor;
  const email = newEmail();

  before(async () => {
    service = await sharedStandaloneService();
    client = await signUp(service.url, email);
    visitor = await Visitor.open(service.url);
    await visitor.signIn(email);
    visitor.complaints.length = 0;
  });
  after(() => visitor?.close());

  it('asks for the password above the page when the session has ended, and keeps the typed text', async () => {
    await visitor.go('/playground');
    await visitor.fill('HTML', 'not to be lost');
    const cookies = await visitor.page.cookies();
    await visitor.page.deleteCookie(...cookies);
    await visitor.press('Render Ctrl Enter');
    await visitor.sees('Your session has ended');
    // The API says with a 401 that nobody is signed in any more.
    visitor.complaints.length = 0;
    await visitor.page.type('dialog[open] input[type=password]', PASSWORD);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForFunction(() => document.querySelector('dialog[open]') === null);
    const typed = await visitor.page.$eval('code-editor', (editor) => (editor as HTMLInputElement).value);
    assert.equal(typed, 'not to be lost');
    visitor.assertNoComplaints();
  });

  it('shows a change without a reload, and sends no request while it is hidden', async () => {
    await visitor.go('/renders');
    const before = await visitor.page.$$eval('tbody tr', ({ length }) => length);
    await client.expect(202, 'POST', '/user/renders', { html: '<p>live' });
    await visitor.page.waitForFunction(
      (count) => document.querySelectorAll('tbody tr').length > count,
      {},
      before,
    );
    const asked: string[] = [];
    const note = (request: { url(): string }) => asked.push(request.url());
    await visitor.page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    visitor.page.on('request', note);
    const { jobId } = await client.expect(202, 'POST', '/user/renders', { html: '<p>elsewhere' });
    const record = () => client.expect(200, 'GET', `/user/renders/${jobId}`);
    await eventually('the render ends', async () => (await record()).status === 'completed');
    visitor.page.off('request', note);
    assert.deepEqual(asked, []);
  });

  it('ends the other tabs when one signs out', async () => {
    await visitor.go('/settings');
    const other = await visitor.page.browser().newPage();
    await other.goto(`${service.url}/dashboard/`);
    await other.waitForSelector('h1');
    await other.evaluate(() => fetch('/auth/me').then(({ status }) => status));
    await visitor.page.click('.who summary');
    assert.equal(await visitor.page.$eval('.who .whole.quiet', ({ textContent }) => textContent), email);
    await visitor.press('Sign out');
    await visitor.sees('Forgot your password?');
    await other.waitForFunction(() => window.location.pathname === '/dashboard/sign-in');
    await other.close();
  });

  it('signs in by the link that standalone printed, and keeps its token neither in the address nor for a second time', async () => {
    const printed = service.roles.get('standalone')!.output.join('\n');
    const link = `${service.url}/dashboard/sign-in${/#once=[\w-]+/.exec(printed)![0]}`;
    await visitor.page.goto('about:blank');
    await visitor.page.goto(link);
    await visitor.sees('owner@localhost.localdomain');
    assert.ok(!visitor.page.url().includes('once'));
    await visitor.go('/settings');
    await visitor.sees('This account has no password.');
    await visitor.page.goto('about:blank');
    await visitor.page.goto(link);
    await visitor.sees('This link has been used');
  });
});
