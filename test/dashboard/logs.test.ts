import assert from 'node:assert/strict';
import { type AccountClient, newEmail, signUp } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStandaloneService } from '../support/service.ts';
import { type View, Visitor } from './support/visitor.ts';

const VIEWS: readonly View[] = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
];
const SECRET = 'secret-of-an-asset-header';

describe('The request log in the dashboard', () => {
  let visitor: Visitor;
  let client: AccountClient;

  before(async () => {
    const service = await sharedStandaloneService();
    const email = newEmail();
    client = await signUp(service.url, email);
    const options = { assetHeaders: { 'X-Asset': SECRET } };
    await client.expect(202, 'POST', '/user/renders', { html: '<p>first</p>', options });
    await client.call('POST', '/user/renders', { html: '<p>x', options: { scale: 99 } });
    const logged = async () => (await client.expect(200, 'GET', '/user/request-logs')).total === 2;
    await eventually('both are in the log', logged);
    visitor = await Visitor.open(service.url);
    await visitor.signIn(email);
    visitor.complaints.length = 0;
  });
  after(() => visitor?.close());

  const texts = () =>
    visitor.page.$$eval('dialog[open] pre', (found) => found.map(({ textContent }) => textContent));

  it('opens a request with what was sent and answered, without its secrets, and as a command', async () => {
    await visitor.go('/logs?status=success');
    await visitor.page.locator('tbody tr').click();
    await visitor.sees('As curl');
    await visitor.assertClear(...VIEWS);
    const [sent, , answered, , curl] = await texts();
    assert.match(sent!, /<p>first<\/p>/);
    assert.match(answered!, /jobId/);
    assert.match(curl!, /curl -X POST 'http:.*\/v1\/pdf' \\\n {2}-H "X-API-Key: \$PLATEN_API_KEY"/);
    assert.ok(!(await texts()).join().includes(SECRET));
    await visitor.page.keyboard.press('Escape');
    await visitor.go('/logs?status=error');
    await visitor.page.locator('tbody tr').click();
    await visitor.sees('As curl');
    assert.match((await texts())[2]!, /"code": "VALIDATION"/);
    visitor.assertNoComplaints();
  });

  it('keeps no headers and bodies where the owner has turned that off', async () => {
    await visitor.go('/logs');
    await visitor.press('Headers and bodies are kept for 1 day');
    await visitor.sees('Turned off, none are kept any more');
    await visitor.assertClear(...VIEWS);
    await visitor.press('Turn off');
    await visitor.sees('Headers and bodies are not kept any more.');
    await visitor.page.locator('tbody tr').click();
    await visitor.sees('Its headers and body are not kept');
    await visitor.assertClear(...VIEWS);
    visitor.assertNoComplaints();
  });
});
