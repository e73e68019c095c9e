/**
 * Does what people come to the dashboard for, and prints how many clicks and key strokes each takes, and how many seconds it
 * takes a browser that does not think: `make dashboard && node_modules/.bin/node test/dashboard/tasks.ts`. A text that is
 * typed counts as one stroke.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ElementHandle, KeyInput } from 'puppeteer';
import { newEmail, PASSWORD } from '../support/account-client.ts';
import { openShowcase, SAMPLE } from './support/showcase.ts';
import type { Visitor } from './support/visitor.ts';

const LONG_MS = 20_000;
/** The smallest picture there is. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let clicks = 0;
let strokes = 0;
let visitor!: Visitor;
const rows: string[] = [];
const failed: string[] = [];
const temporary = await mkdtemp(join(tmpdir(), 'platen-tasks-'));
const file = join(temporary, 'orders.json');
const picture = join(temporary, 'logo.png');
await writeFile(file, JSON.stringify(['101', '102', '103'].map((number) => ({ ...SAMPLE, number }))));
await writeFile(picture, Buffer.from(PIXEL, 'base64'));

const press = (name: string) => {
  clicks += 1;
  return visitor.press(name);
};
const click = (selector: string) => {
  clicks += 1;
  return visitor.page.locator(selector).click();
};
const menu = (title: string) => click(`.side a ::-p-text(${title})`);
const fill = (label: string, text: string) => {
  strokes += 1;
  return visitor.fill(label, text);
};
const key = (name: KeyInput) => {
  strokes += 1;
  return visitor.page.keyboard.press(name);
};
const control = (name: KeyInput) => {
  strokes += 1;
  return visitor.control(name);
};
const type = (text: string) => {
  strokes += 1;
  return visitor.page.keyboard.type(text);
};
const at = (path: RegExp) =>
  visitor.page.waitForFunction(
    (source) => new RegExp(source).test(window.location.pathname),
    {},
    path.source,
  );
const upload = async (path: string) => {
  clicks += 1;
  const field = await visitor.page.waitForSelector('main input[type=file]');
  await (field as ElementHandle<HTMLInputElement>).uploadFile(path);
};

/** @param from the page on which one is, which is loaded. */
async function task(name: string, from: string, act: () => Promise<unknown>): Promise<void> {
  await visitor.go(from);
  // A PDF that was shown may count as being on its way for ever.
  await visitor.page.waitForNetworkIdle({ concurrency: 2, timeout: 2000 }).catch(() => undefined);
  [clicks, strokes] = [0, 0];
  const since = performance.now();
  try {
    await act();
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    rows.push(`| ${name} | ${clicks} | ${strokes} | ${seconds} |`);
  } catch (error) {
    failed.push(`${name}: ${(error as Error).message}, ${(error as Error).cause}`);
    rows.push(`| ${name} | not done | | |`);
  }
  console.error(rows.at(-1));
}

const { ids, close } = await openShowcase(async (stranger) => {
  visitor = stranger;
  visitor.page.setDefaultTimeout(LONG_MS);
  await task('From the register page to the first PDF', '/register', async () => {
    await fill('E-mail address', newEmail());
    await fill('Password', PASSWORD);
    await press('Create account');
    await press('Run it now');
    await visitor.page.waitForSelector('iframe.pdf');
  });
  for (const cookie of await visitor.page.cookies()) await visitor.page.deleteCookie(cookie);
});
try {
  const template = `/templates/${ids.template}`;
  await visitor.setView({ width: 1280, scheme: 'light' });
  await task('From a failed render to the mended one', '/', async () => {
    await click('.tiles a[href*="status=failed"]');
    await click('tbody tr td[data-title=Took]');
    await click('.peek ::-p-text(Edit and run again)');
    await at(/playground/);
    await visitor.settled();
    await fill('HTML', '<p id="total">12.00</p>');
    await control('Enter');
    await visitor.page.waitForSelector('iframe.pdf');
  });
  await task('A template: change, preview, publish', template, async () => {
    await fill('HTML in Liquid', '<h1>{{ number }}</h1><p>Thank you</p>');
    await control('Enter');
    await visitor.page.waitForSelector('iframe.pdf');
    await press('Publish');
    await press('Publish version 3');
    await visitor.sees('Version 3, published');
  });
  await task('A template: roll back', template, async () => {
    await press('Roll back to version 2');
    await press('Roll back');
    await visitor.sees('Version 4, published');
  });
  await task('A picture in a template', template, async () => {
    await upload(picture);
    await visitor.sees('The picture is in the HTML.');
  });
  await task('A batch from a file', `/templates/${ids.template}`, async () => {
    await click('main ::-p-text(Batch from a file)');
    await upload(file);
    await press('Render 3 documents');
    await at(/batches\/[0-9a-f-]{36}/);
    await visitor.sees('completed');
  });
  await task('The ZIP of a batch', '/', async () => {
    await menu('Batches');
    await click('tbody tr td[data-title=Status]');
    await visitor.page.waitForSelector('a[href$="/zip"], a[download]');
    clicks += 1;
  });
  await task('What a receiver has answered to a webhook', '/', async () => {
    await menu('Webhooks');
    await click('tbody tr:has(.bad) td[data-title=Attempts]');
    await visitor.sees('orders: the database does not respond');
  });
  await task('A key for one network, shown', '/', async () => {
    await menu('API keys');
    await press('New key');
    await fill('Name', 'Office');
    await fill('Allowed IP addresses', '203.0.113.0/24');
    await press('Create key');
    await visitor.sees('Your new key');
  });
  await task('A key rotated', '/keys', async () => {
    await press('Rotate Shop');
    await press('Rotate key');
    await visitor.sees('Your new key');
  });
  await task('Why a slow hour was slow', '/', async () => {
    await click('main p a[href*="duration_desc"]');
    await click('tbody tr td[data-title=Took]');
    await click('.peek a ::-p-text(Open)');
    await visitor.sees('Where the time went');
  });
  await task('What is owed', '/', async () => {
    await menu('Billing');
    await visitor.sees('Next invoice');
  });
  await task('A higher plan, up to the price', '/', async () => {
    await menu('Billing');
    await press('Upgrade to Business');
    await visitor.sees('Due today');
  });
  await task('A colleague invited', '/', async () => {
    await menu('Members');
    await press('Invite someone');
    await fill('E-mail address', 'barbara@example.com');
    await press('Send invitation');
    await visitor.sees('An invitation is on its way');
  });
  await task('A render found by a part of its name', '/keys', async () => {
    await control('k');
    await type('2026-002');
    await visitor.sees('invoice-2026-002.pdf');
    await key('Enter');
    await at(/renders\/[0-9a-f-]{36}/);
  });
  await task('A render found by its id', '/keys', async () => {
    await control('k');
    await type(ids.render);
    await visitor.page.waitForSelector('dialog ::-p-text(invoice-2026-001.pdf)');
    await key('Enter');
    await at(/renders\/[0-9a-f-]{36}/);
  });
  await task('Two renders compared', `/renders?status=completed`, async () => {
    await click('tbody tr:nth-child(1) input');
    await click('tbody tr:nth-child(2) input');
    await click('.selected ::-p-text(Compare)');
    await visitor.sees('What differs is marked');
  });
  await task('A link to a PDF for somebody without an account', `/renders/${ids.render}`, async () => {
    await press('Share');
    await press('Create link');
    await visitor.sees('Valid until');
  });
  await task('Header, page numbers and a watermark, as code', '/playground', async () => {
    await fill('headerTemplate', '<b>Shop</b>');
    await fill('footerTemplate', '<i class="pageNumber"></i>');
    await fill('Find an option', 'watermark');
    await fill('watermark text', 'DRAFT');
    await visitor.sees('DRAFT');
  });
} finally {
  await close();
  await rm(temporary, { recursive: true, force: true });
}
console.log(
  ['| Task | Clicks | Texts and keys | Seconds |', '| --- | --- | --- | --- |', ...rows].join('\n'),
);
for (const each of failed) console.error(each);
// Connections of the test database are kept open.
process.exit(failed.length === 0 ? 0 : 1);
