import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import type { SeededAccount } from './support/seeded-account.ts';
import { openSeededVisitor } from './support/signed-in.ts';
import type { View, Visitor } from './support/visitor.ts';

const VIEWS: readonly View[] = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
];

describe('Finding things in the dashboard', () => {
  let seeded: SeededAccount;
  let visitor: Visitor;

  before(async () => {
    ({ seeded, visitor } = await openSeededVisitor());
  });
  after(() => visitor?.close());
  beforeEach(() => visitor.setView(VIEWS[0]!));

  const rows = () => visitor.page.$$eval('main tbody tr', ({ length }) => length);
  const query = () => visitor.page.evaluate(() => window.location.search);
  const chips = () =>
    visitor.page.$$eval('.chips .chip bdi', (all) => all.map(({ textContent }) => textContent));

  it('finds renders by a part of the name or id, and keeps each filter in the address', async () => {
    await visitor.go('/renders');
    await visitor.fill('Name or id', seeded.failedId.slice(-8));
    await eventually('one is found', async () => (await rows()) === 1);
    assert.equal(await query(), `?search=${seeded.failedId.slice(-8)}`);
    assert.deepEqual(await chips(), [`“${seeded.failedId.slice(-8)}”`]);
    await visitor.page.click('.chips .chip');
    await eventually('all are there', async () => (await rows()) === 25);
    assert.equal(await query(), '');
    const timeout = JSON.stringify(['error', 'RENDER_TIMEOUT']);
    await visitor.page.waitForSelector(`option[value='${timeout}']`);
    await visitor.page.select('#add-filter', timeout);
    await eventually('it is narrowed', async () => (await rows()) < 25);
    const codes = await visitor.page.$$eval('td[data-title=Error]', (cells) =>
      cells.map(({ textContent }) => textContent),
    );
    assert.ok(codes.length > 0 && codes.every((code) => code === 'RENDER_TIMEOUT'), codes.join());
    await visitor.page.select('#add-filter', JSON.stringify(['minMs', 1000]));
    await eventually('both are in the address', async () =>
      /error=RENDER_TIMEOUT.*minMs=1000/.test(await query()),
    );
    await visitor.page.reload();
    await visitor.settled();
    assert.deepEqual(await chips(), ['Error: RENDER_TIMEOUT', 'Took 1 s or longer']);
    await visitor.assertClear(...VIEWS);
    visitor.assertNoComplaints();
  });

  it('shows the slowest first', async () => {
    await visitor.go('/renders?sort=duration_desc');
    await visitor.page.waitForSelector('tbody tr');
    const took = await visitor.page.$$eval('td[data-title=Took]', (cells) =>
      cells.map(({ textContent }) => {
        const [value, unit] = textContent!.split(' ');
        return Number(value) * (unit === 's' ? 1000 : 1);
      }),
    );
    assert.deepEqual(
      took,
      took.toSorted((a, b) => b - a),
    );
  });

  it('keeps a view under a name, in this browser, until it is forgotten', async () => {
    await visitor.go('/renders?status=failed&sort=duration_desc');
    await visitor.press('Save this view');
    await visitor.sees('Name of the view');
    await visitor.assertClear(...VIEWS);
    await visitor.fill('Name of the view', 'Slow failures');
    await visitor.press('Save');
    await visitor.go('/renders');
    await visitor.page.locator('.views a ::-p-text(Slow failures)').click();
    await eventually(
      'the view is shown',
      async () => (await query()) === '?sort=duration_desc&status=failed',
    );
    await eventually('its rows are there', async () => (await rows()) === Math.min(25, seeded.failed));
    await visitor.assertClear(...VIEWS);
    await visitor.setView(VIEWS[0]!);
    await visitor.press('Forget this view');
    await visitor.page.waitForFunction(() => document.querySelector('.views a') === null);
    visitor.assertNoComplaints();
  });

  it('opens a render beside the list, and goes on by the arrow keys', async () => {
    await visitor.go('/renders?status=failed');
    await visitor.page.waitForSelector('tbody tr a');
    const ids = await visitor.page.$$eval('tbody tr td[data-title=Render] a', (links) =>
      links.map((link) => (link as HTMLAnchorElement).pathname.split('/').at(-1)),
    );
    await visitor.page.click('tbody tr a');
    const opened = (id: string | undefined) =>
      eventually(`${id} is open`, async () => {
        const link = await visitor.page.$('.peek a.button');
        return (await link?.evaluate((each) => (each as HTMLAnchorElement).pathname))?.endsWith(id!) === true;
      });
    await opened(ids[0]);
    await visitor.page.keyboard.press('ArrowDown');
    await opened(ids[1]);
    await visitor.page.keyboard.press('ArrowUp');
    await opened(ids[0]);
    await visitor.page.waitForSelector('.peek .note.error');
    await visitor.assertClear(...VIEWS);
    await visitor.setView(VIEWS[0]!);
    await visitor.page.keyboard.press('Escape');
    await visitor.page.waitForFunction(() => document.querySelector('.peek') === null);
    assert.equal(await query(), '?status=failed');
    visitor.assertNoComplaints();
  });

  it('acts on all that match, once that is confirmed', async () => {
    await visitor.go('/renders?search=invoice');
    await visitor.page.locator('::-p-aria(Select all on this page)').click();
    const all = seeded.completed + seeded.failed;
    await visitor.press(`Select all ${all} that match`);
    await visitor.sees(`${all} selected`);
    await visitor.sees(`Retry ${seeded.failed}`);
    const href = await visitor.page.$eval(
      '.selected a[download]',
      (link) => (link as HTMLAnchorElement).href,
    );
    assert.equal(new URL(href).searchParams.get('ids')!.split(',').length, Math.min(100, seeded.completed));
    await visitor.assertClear(...VIEWS);
    await visitor.setView(VIEWS[0]!);
    await visitor.press(`Retry ${seeded.failed}`);
    await visitor.sees('Each becomes a new render');
    // What failed is of another week, so its input is gone: that is said once, and the list stays.
    await visitor.press(`Retry ${seeded.failed} renders`);
    await visitor.page.waitForSelector('.toast.bad');
    await visitor.sees(`0 of ${seeded.failed} renders retried.`);
    visitor.complaints.length = 0;
  });

  it('finds templates, renders, batches and pages by the palette', async () => {
    await visitor.go('/');
    await visitor.control('k');
    const options = () =>
      visitor.page.$$eval('[role=option]', (all) => all.map(({ textContent }) => textContent!));
    const type = async (text: string, expected: RegExp) => {
      await visitor.page.waitForSelector('dialog[open] input');
      await visitor.page.$eval('dialog[open] input', (field) => (field as HTMLInputElement).select());
      await visitor.page.keyboard.type(text);
      await eventually(`${text} is found`, async () => (await options()).some((each) => expected.test(each)));
    };
    await type('Payroll', /^Payroll November Batch/);
    await type(seeded.failedId.slice(-8), /^invoice.pdf Render, .*failed/);
    await type('invoice.pdf', /^All \d+ with “invoice.pdf” Renders/);
    await visitor.assertClear(...VIEWS);
    await visitor.setView(VIEWS[0]!);
    await type('slowest', /^Slowest renders Action/);
    await type('receipt', /^Receipt Template/);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForFunction((id) => window.location.pathname.endsWith(id), {}, seeded.templateId);
    visitor.assertNoComplaints();
  });

  it('leads from the slowest hour to its renders, the slowest first', async () => {
    await visitor.go('/');
    const link = await visitor.page.waitForSelector('.latency p a');
    const target = new URL(await link!.evaluate((each) => (each as HTMLAnchorElement).href)).searchParams;
    await visitor.assertClear(...VIEWS);
    await visitor.setView(VIEWS[0]!);
    await link!.click();
    await visitor.page.waitForSelector('.chips');
    await visitor.page.waitForSelector('tbody tr');
    assert.equal(Date.parse(target.get('to')!) - Date.parse(target.get('from')!), 3_600_000);
    const created = await visitor.page.$$eval('td[data-title=Created] time', (times) =>
      times.map((each) => each.dateTime),
    );
    assert.ok(created.length > 0);
    for (const at of created) assert.ok(at >= target.get('from')! && at < target.get('to')!, at);
    assert.equal(target.get('sort'), 'duration_desc');
    // The same by a press on the picture.
    await visitor.go('/');
    await visitor.page.waitForSelector('.latency g');
    await visitor.page.$$eval('.latency g rect.ground', (all) => {
      all.at(-1)!.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    });
    await eventually('the list of that hour is there', async () =>
      /^\?from=.*&to=.*&sort=duration_desc$/.test(await query()),
    );
    visitor.assertNoComplaints();
  });

  it('has a report of what is rendered in the playground, with the time of each request', async () => {
    await visitor.go('/playground');
    await visitor.fill('HTML', '<p>x</p><img src="not-there.png">');
    await visitor.control('Enter');
    await visitor.page.waitForSelector('.outcome iframe[src*="/file"]');
    await visitor.page.locator('.outcome a ::-p-text(Details)').click();
    await visitor.page.waitForSelector('svg.when');
    await visitor.sees('not-there.png');
    await visitor.assertClear(...VIEWS);
    visitor.assertNoComplaints();
  });
});
