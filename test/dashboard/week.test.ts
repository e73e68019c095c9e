import assert from 'node:assert/strict';
import type { HTTPRequest } from 'puppeteer';
import { signUp } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import type { TestService } from '../support/service.ts';
import { REFUSALS, type SeededAccount } from './support/seeded-account.ts';
import { openSeededVisitor } from './support/signed-in.ts';
import { type View, Visitor } from './support/visitor.ts';

const VIEWS: readonly View[] = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
];
/** Pixels below the end of what a page shows. */
const MOST_BELOW = 160;

describe('The dashboard of an account after a week', () => {
  let service: TestService;
  let seeded: SeededAccount;
  let visitor: Visitor;

  before(async () => {
    ({ service, seeded, visitor } = await openSeededVisitor());
  });
  after(() => visitor?.close());

  const location = () => visitor.page.evaluate(() => window.location.pathname + window.location.search);

  for (const path of [
    '/',
    '/?period=90d',
    '/renders',
    '/batches',
    '/templates',
    '/webhooks',
    '/keys',
    '/logs',
    '/audit',
    '/design',
  ]) {
    it(`${path} has no barrier, and ends where what it shows ends`, async () => {
      await visitor.setView(VIEWS[0]!);
      await visitor.go(path);
      await visitor.page.waitForSelector(path.startsWith('/?') || path === '/' ? '.bars' : 'table, .empty');
      await visitor.assertClear(...VIEWS);
      for (const view of VIEWS) {
        await visitor.setView(view);
        const below = await visitor.page.evaluate(() => {
          const bottoms = [...document.querySelectorAll('main > *, .side')].map(
            (each) => each.getBoundingClientRect().bottom + window.scrollY,
          );
          return document.documentElement.scrollHeight - Math.max(window.innerHeight, ...bottoms);
        });
        assert.ok(below <= MOST_BELOW, `${below} pixels of nothing at ${view.width}`);
      }
      visitor.assertNoComplaints();
    });
  }

  it('names every render and every batch so that no two look alike', async () => {
    await visitor.setView(VIEWS[0]!);
    await visitor.go('/renders');
    const renders = await visitor.page.$$eval('td[data-title=Render] a', (links) =>
      links.map((each) => each.textContent),
    );
    assert.deepEqual([renders.length, new Set(renders).size], [25, 25]);
    await visitor.go('/batches');
    const batches = await visitor.page.$$eval('td[data-title=Batch] a', (links) =>
      links.map((each) => each.textContent),
    );
    assert.deepEqual([batches.length, new Set(batches).size], [2, 2]);
  });

  it('shows the list where its address holds no such time, page or status', async () => {
    for (const query of [
      'from=abc',
      'from=2026-13-45',
      'offset=abc',
      'offset=-5',
      'offset=1.5',
      'status=nonsense',
    ]) {
      await visitor.go(`/renders?${query}`);
      await visitor.page.waitForSelector('tbody tr');
      assert.equal(await visitor.page.$eval('h1', ({ textContent }) => textContent), 'Renders', query);
    }
    await visitor.go('/renders/%E0%A4%A');
    await visitor.page.waitForSelector('.side');
    visitor.complaints.length = 0;
  });

  it('closes the menu of the account by a press elsewhere, by Escape, and with the page', async () => {
    const isOpen = () => visitor.page.$eval('.who', (menu) => (menu as HTMLDetailsElement).open);
    const open = async () => {
      await visitor.page.click('.who summary');
      assert.equal(await isOpen(), true);
    };
    await visitor.go('/');
    await open();
    await visitor.page.mouse.click(600, 600);
    assert.equal(await isOpen(), false);
    await open();
    await visitor.page.keyboard.press('Escape');
    assert.equal(await isOpen(), false);
    assert.equal(await visitor.page.evaluate(() => document.activeElement?.tagName), 'SUMMARY');
    await open();
    await visitor.page.$eval('.side a[href$="/keys"]', (link) => (link as HTMLElement).click());
    await visitor.settled();
    assert.equal(await isOpen(), false);
  });

  it('goes back from a search in one step', async () => {
    await visitor.go('/');
    await visitor.byMenu('Templates');
    await visitor.fill('Name', 'Receipt');
    await visitor.page.waitForFunction(() => window.location.search === '?search=Receipt');
    await visitor.page.goBack();
    assert.equal(await location(), '/dashboard/');
  });

  it('shows in the dark that nothing is in use', async () => {
    await visitor.setView(VIEWS[1]!);
    await visitor.go('/billing');
    const bar = await visitor.page.waitForSelector('progress');
    const picture = await bar!.screenshot({ encoding: 'base64' });
    const brightest = await visitor.page.evaluate(async (data) => {
      const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
      const drawn = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const context = new OffscreenCanvas(drawn.width, drawn.height).getContext('2d')!;
      context.drawImage(drawn, 0, 0);
      return Math.max(
        ...context.getImageData(0, 0, drawn.width, drawn.height).data.filter((_, i) => i % 4 !== 3),
      );
    }, picture);
    assert.ok(brightest < 128, `an empty bar is as bright as ${brightest} of 255`);
    await visitor.setView(VIEWS[0]!);
  });

  it('counts the same failures in the overview, in the lists and in the log', async () => {
    await visitor.go('/');
    await visitor.page.waitForSelector('.bars');
    const tiles = await visitor.page.$$eval('.tiles > div', (each) =>
      each.map(({ textContent }) => textContent),
    );
    const tile = (name: string) => tiles.find((text) => text.startsWith(name))!.slice(name.length);
    // Each of the two batches has a document that failed.
    const failed = String(seeded.failed + 2);
    assert.equal(tile('Renders failed'), `${failed}${REFUSALS.length} requests rejected`);
    assert.ok(tile('Renders completed').startsWith(`${seeded.completed + 39}Single`));
    await visitor.go('/renders?status=failed');
    const rows = () => visitor.page.$$eval('main tbody tr', ({ length }) => length);
    assert.equal(await rows(), seeded.failed);
    await visitor.go('/logs?status=error');
    assert.equal(await rows(), REFUSALS.length);
  });

  it('leads from the log to the render and to the batch of a request', async () => {
    await visitor.go('/logs?endpoint=/v1/pdf/batch');
    const row = await visitor.page.waitForSelector('tbody tr');
    assert.match(
      await row!.evaluate(({ textContent }) => textContent!),
      /POST \/v1\/pdf\/batch.*202.*640 ms/s,
    );
    await visitor.page.click('tbody tr a');
    await visitor.page.waitForFunction(() => window.location.pathname.startsWith('/dashboard/batches/'));
    await visitor.sees('Download manifest');
    await visitor.go('/logs?endpoint=/v1/pdf&status=success');
    const link = await visitor.page.$eval('tbody tr a', (each) => (each as HTMLAnchorElement).pathname);
    assert.match(link, /^\/dashboard\/renders\//);
    visitor.assertNoComplaints();
  });

  it('tells batches apart by their notes, and says of a batch that has ended how many failed', async () => {
    await visitor.go('/batches');
    await visitor.sees('Payroll November');
    const badges = await visitor.page.$$eval('td[data-title=Status]', (cells) =>
      cells.map((each) => each.textContent),
    );
    assert.deepEqual(badges, ['completed, 1 failed', 'completed, 1 failed']);
    await visitor.go(`/batches/${seeded.batchId}`);
    await visitor.assertClear(...VIEWS);
    const address = await visitor.page.$eval(
      'a[href$="/manifest"]',
      (link) => (link as HTMLAnchorElement).href,
    );
    const manifest = await visitor.page.evaluate(async (url) => (await fetch(url)).json(), address);
    assert.equal(manifest.items.filter(({ status }: { status: string }) => status === 'failed').length, 1);
    assert.equal(manifest.items.length, 40);
    visitor.assertNoComplaints();
  });

  it('says in place what can be done about a failure', async () => {
    await visitor.setView(VIEWS[0]!);
    await visitor.go(`/renders/${seeded.failedId}`);
    await visitor.page.waitForSelector('.note.error p + p');
    assert.equal(await visitor.page.$('main a[href^="/docs/errors"]'), null);
    await visitor.assertClear(...VIEWS);
    visitor.assertNoComplaints();
  });

  it('acts on what is selected and seen, once that is confirmed', async () => {
    await visitor.setView(VIEWS[0]!);
    await visitor.go('/renders');
    await visitor.page.locator('::-p-aria(Select all on this page)').click();
    await visitor.sees('25 selected');
    const failed = await visitor.page.$$eval('td .badge.bad', ({ length }) => length);
    // What has completed can be neither cancelled nor retried.
    const buttons = await visitor.page.$$eval('.selected :is(button, a)', (all) =>
      all.map((each) => each.textContent.trim()),
    );
    assert.deepEqual(buttons, [
      `Select all ${seeded.completed + seeded.failed} that match`,
      `Retry ${failed}`,
      `Download ${25 - failed} as ZIP`,
      'Clear selection',
    ]);
    const firstRow = () => visitor.page.$eval('tbody tr', ({ textContent }) => textContent);
    const first = await firstRow();
    await visitor.press('Older');
    await eventually('the next page is there', async () => (await firstRow()) !== first);
    assert.equal(await visitor.page.$('.selected'), null);
    await visitor.press('Newer');
    await eventually('the first page is there again', async () => (await firstRow()) === first);
    assert.equal(await visitor.page.$('.selected'), null);
    await visitor.page.locator('::-p-aria(Select all on this page)').click();
    await visitor.press(`Retry ${failed}`);
    await visitor.sees('Each becomes a new render');
    assert.deepEqual(await visitor.barriers(), []);
    await visitor.page.keyboard.press('Escape');
    visitor.assertNoComplaints();
  });

  it('pages no further than the service does', async () => {
    await visitor.go('/renders?offset=4000');
    await visitor.sees('Nothing here, of');
    await visitor.page.setRequestInterception(true);
    const answer = (request: HTTPRequest) =>
      new URL(request.url()).pathname === '/user/renders'
        ? void request.respond({ contentType: 'application/json', body: '{"total":20000,"renders":[]}' })
        : void request.continue();
    visitor.page.on('request', answer);
    await visitor.go('/renders?offset=10000');
    await visitor.sees('Narrow the filters to see older ones.');
    assert.equal(
      await visitor.page.$eval('.pager button:last-child', (each) => (each as HTMLButtonElement).disabled),
      true,
    );
    visitor.page.off('request', answer);
    await visitor.page.setRequestInterception(false);
    visitor.assertNoComplaints();
  });

  it('follows a press anywhere in a row to what the row is about', async () => {
    await visitor.setView(VIEWS[0]!);
    // Which have no PDF: the files of the week's are not there.
    await visitor.go('/renders?status=failed');
    const cell = await visitor.page.waitForSelector('tbody tr td[data-title=Took]');
    await cell!.click();
    // Beside the list where there is room, else on its page.
    await visitor.page.waitForSelector('.peek h2');
    await visitor.setView({ width: 1000, scheme: 'light' });
    await visitor.go('/renders?status=failed');
    await (await visitor.page.waitForSelector('tbody tr td[data-title=Took]'))!.click();
    await visitor.page.waitForFunction(() => window.location.pathname.startsWith('/dashboard/renders/'));
    await visitor.setView(VIEWS[0]!);
    await visitor.go('/renders');
    // Which has a purpose of its own.
    await visitor.page.click('tbody tr input');
    await visitor.sees('1 selected');
    visitor.assertNoComplaints();
  });

  it('shows a row of a list in two lines on a phone', async () => {
    await visitor.setView(VIEWS[2]!);
    for (const path of ['/renders', '/batches', '/logs', '/audit']) {
      await visitor.go(path);
      await visitor.page.waitForSelector('tbody tr');
      const heights = await visitor.page.$$eval('tbody tr', (rows) =>
        rows.map(
          (row) => row.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(row).lineHeight),
        ),
      );
      // Each line with the space around it; a long error takes another.
      assert.ok(Math.max(...heights) < 6, `${path}: ${Math.max(...heights)} lines`);
    }
  });

  it('names in the audit log what was changed', async () => {
    await visitor.go('/audit?action=template.saved');
    await visitor.sees('Saved template Receipt, version 3');
    await visitor.page.locator('tbody a ::-p-text(Receipt)').click();
    await visitor.page.waitForFunction((id) => window.location.pathname.endsWith(id), {}, seeded.templateId);
    visitor.assertNoComplaints();
  });

  it('says beside the fields of a key what is wrong with them', async () => {
    // A secret needs a password that was typed some minutes ago at most.
    await visitor.signIn(seeded.email);
    await visitor.go('/keys');
    await visitor.press('New key');
    await visitor.fill('Name', 'shop');
    await visitor.fill('Allowed IP addresses', '203.0.113.7\nnonsense');
    await visitor.press('Create key');
    await visitor.page.waitForSelector('dialog[open] ::-p-text(nonsense: must)');
    assert.equal(await visitor.page.$('.toast'), null);
    assert.deepEqual(await visitor.barriers(), []);
    visitor.complaints.length = 0;
  });

  it('writes numbers and dates as it writes words, whatever the language of the browser', async () => {
    const other = await visitor.another();
    await other.page.evaluateOnNewDocument(() => {
      Object.defineProperty(navigator, 'languages', { value: ['de-DE', 'xx_broken'] });
    });
    const firstTime = () => other.page.$eval('tbody time', ({ textContent }) => textContent!);
    await other.go('/renders');
    assert.match(await firstTime(), /^now$|^\d+ min\. ago$|^\d+ hr\. ago$/);
    await other.go('/renders?offset=75');
    assert.match(await firstTime(), /^[A-Z][a-z]{2} \d+, \d{4}/);
    await other.page.close();
  });

  it('refuses a password and an address in words for whoever signs in', async () => {
    const other = await Visitor.open(service.url);
    try {
      await other.go('/sign-in');
      await other.fill('E-mail address', seeded.email);
      await other.fill('Password', 'not this one');
      await other.press('Sign in');
      await other.sees('The e-mail address or the password is wrong.');
      assert.doesNotMatch(await other.page.content(), /X-API-Key/);
      await other.go('/register');
      await other.fill('E-mail address', seeded.email);
      await other.fill('Password', 'not this one either');
      await other.press('Create account');
      await other.sees('There is already an account with this e-mail address.');
      assert.doesNotMatch(await other.page.content(), /X-API-Key/);
      assert.deepEqual(await other.barriers(), []);
    } finally {
      await other.close();
    }
  });

  it('offers nothing that the plan or the installation does not have', async () => {
    const newcomer = await signUp(service.url);
    const { plans } = await newcomer.expect(200, 'GET', '/user/plans');
    const without = plans.find(
      ({ limits }: { limits: { features: { callbacks: boolean } } }) => !limits.features.callbacks,
    );
    assert.ok(without !== undefined, 'each plan has webhooks');
    await service.tenants.accounts.setPlan(seeded.accountId, without.name);
    await eventually('the plan is in force', async () => {
      await visitor.go('/webhooks');
      return (await visitor.page.content()).includes('Your plan does not include webhooks.');
    });
    assert.equal(await visitor.page.$('main ::-p-text(Send a test webhook)'), null);
    await visitor.go('/billing');
    await visitor.sees('This installation sells nothing.');
    assert.equal(await visitor.page.$('main ::-p-text(Payment methods)'), null);
    visitor.complaints.length = 0;
  });
});
