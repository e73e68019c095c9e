import assert from 'node:assert/strict';
import { type AccountClient, newEmail, PASSWORD, signUp } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { givePlan } from './support/give-plan.ts';
import { Visitor } from './support/visitor.ts';

/** More than any page has places for the focus. */
const MOST_STEPS = 150;

/** One walk, whose steps follow from each other. */
describe('The dashboard by the keyboard alone', () => {
  let service: TestService;
  let visitor: Visitor;
  let account: AccountClient;
  const email = newEmail();

  before(async () => {
    service = await sharedStandaloneService();
    account = await signUp(service.url, email);
    await givePlan(service, account, 'business');
    visitor = await Visitor.open(service.url);
    await visitor.page.goto(`${service.url}/dashboard/`);
    await visitor.sees('Sign in');
    // That nobody is signed in is asked of the API, which says so with a 401.
    visitor.complaints.length = 0;
  });
  after(() => visitor?.close());

  /** What has the focus: its name, and whether it is to be seen that it has. */
  const focus = () =>
    visitor.page.evaluate(() => {
      const element = document.activeElement as HTMLElement & { labels?: NodeListOf<HTMLLabelElement> };
      const label =
        element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const seen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
      return { name: label.replaceAll(/\s+/g, ' ').trim(), seen, tag: element.tagName };
    });

  /** Goes on from one place to the next until it is at the one with this name; each shows that it has the focus. */
  async function tabTo(name: string | RegExp, backwards = false): Promise<void> {
    const isIt = (found: string) => (typeof name === 'string' ? found === name : name.test(found));
    const passed: string[] = [];
    for (let step = 0; step < MOST_STEPS; step += 1) {
      if (backwards) await visitor.page.keyboard.down('Shift');
      await visitor.page.keyboard.press('Tab');
      if (backwards) await visitor.page.keyboard.up('Shift');
      const { name: found, seen, tag } = await focus();
      // Past the last place, the browser's own controls have it.
      if (tag === 'BODY') continue;
      assert.ok(seen || tag === 'IFRAME', `that ${found} has the focus is not to be seen`);
      if (isIt(found)) return;
      passed.push(found.slice(0, 40));
    }
    assert.fail(`there is no ${name} among ${[...new Set(passed)].join(' | ')}`);
  }
  async function press(name: string | RegExp, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
    await tabTo(name);
    await visitor.page.keyboard.press(key);
  }
  /** By the palette, which takes the name of a page and the id of a render. */
  async function goTo(what: string, path: string): Promise<void> {
    await visitor.control('k');
    await visitor.page.waitForSelector('dialog[open] input');
    await visitor.page.keyboard.type(what);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForFunction((end) => window.location.pathname.endsWith(end), {}, path);
    await visitor.settled();
    await eventually('the heading has the focus', async () => (await focus()).tag === 'H1');
  }

  it('signs in', async () => {
    await tabTo('E-mail address');
    await visitor.page.keyboard.type(email);
    await tabTo('Password');
    await visitor.page.keyboard.type(PASSWORD);
    await visitor.page.keyboard.press('Enter');
    await visitor.sees('Your first document');
  });

  it('makes a key, and is back where it was', async () => {
    await goTo('API keys', '/keys');
    await press('New key');
    await visitor.page.waitForSelector('dialog[open]');
    await tabTo('Name');
    await visitor.page.keyboard.type('mine');
    await press('Create key');
    await visitor.page.waitForSelector('dialog[open] pre');
    await visitor.page.keyboard.press('Escape');
    await visitor.page.waitForFunction(() => document.querySelector('dialog[open]') === null);
    assert.equal((await focus()).name, 'New key');
    await visitor.sees('mine');
  });

  it('renders a first document, and comes to its PDF', async () => {
    await goTo('Overview', '/dashboard/');
    await press('Run it now');
    // The overview says "completed" as well, of all renders.
    await visitor.page.waitForFunction(() => window.location.pathname.includes('/renders/'));
    await visitor.page.waitForSelector('main .badge ::-p-text(completed)');
    await tabTo('Download');
  });

  it('retries a render that has failed', async () => {
    const html = { html: '<p>x', options: { failOn: { exception: true }, scripts: ['throw 1'] } };
    const { jobId } = await account.expect(202, 'POST', '/user/renders', html);
    await eventually(
      'it has failed',
      async () => (await account.get(`/user/renders/${jobId}`)).json.status === 'failed',
    );
    await goTo(jobId, jobId);
    await press('Retry');
    await visitor.page.waitForFunction((id) => !window.location.pathname.endsWith(id), {}, jobId);
    await visitor.sees('Retry of');
  });

  it('edits a template, and rolls it back', async () => {
    const template = { name: 'letter', content: '<p>Dear {{ name }}' };
    const { id } = await account.expect(201, 'POST', '/user/templates', template);
    await goTo('Templates', '/templates');
    await press('letter');
    await visitor.page.waitForFunction((end) => window.location.pathname.endsWith(end), {}, id);
    await visitor.settled();
    await tabTo('HTML in Liquid');
    await visitor.page.keyboard.type('!');
    await tabTo('Publish', true);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForSelector('dialog[open]');
    await press('Publish version 2');
    await visitor.sees('Published as version 2');
    await press(/^Roll back to version 1/);
    await visitor.page.waitForSelector('dialog[open]');
    await press('Roll back');
    await visitor.sees('version 3');
    const { content } = await account.expect(200, 'GET', `/user/templates/${id}`);
    assert.equal(content, template.content);
  });

  it('has complained of nothing meanwhile', () => visitor.assertNoComplaints());
});
