/**
 * Takes pictures of each page and dialog of the dashboard in light, dark and phone width, to be looked at before a change of it
 * is kept: `make dashboard && node_modules/.bin/node test/dashboard/pictures.ts FOLDER [NAME…]`. In docs/guide/dashboard
 * it takes those that docs/guide/dashboard.md shows.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer';
import { openShowcase, SAMPLE } from './support/showcase.ts';
import type { View, Visitor } from './support/visitor.ts';

const [folder, ...names] = process.argv.slice(2);
if (folder === undefined) throw new Error('Say which folder the pictures are written to.');

const VIEWS: Readonly<Record<string, View>> = {
  light: { width: 1280, scheme: 'light' },
  dark: { width: 1280, scheme: 'dark' },
  phone: { width: 390, scheme: 'light' },
};
/** What a picture is taken of comes within it, in milliseconds, or is not there. */
const LONG_MS = 8000;
/** The page of the guide that the folder belongs to, if it does: else a picture is as high as its page. */
const GUIDE = await readFile(`${folder.replace(/\/$/, '')}.md`, 'utf8').catch(() => undefined);

/** What is taken: name, path, and what is done on the page first. */
type Picture = readonly [name: string, path: string, prepare?: (visitor: Visitor) => Promise<unknown>];

await mkdir(folder, { recursive: true });
const missing: string[] = [];
const temporary = await mkdtemp(join(tmpdir(), 'platen-pictures-'));
const rows = join(temporary, 'orders.json');
const orders = ['2026-101', '2026-102', '2026-103'].map((number) => ({ ...SAMPLE, number, customer: 'Ada' }));
await writeFile(rows, JSON.stringify(orders));

let drawn = '';
const showcase = await openShowcase(async (visitor) => {
  drawn = await draw(visitor, `<h1>Invoice 2026-001</h1><p>Thank you for your order.</p>`);
  for (const [name, path] of [
    ['register', '/register'],
    ['sign-in', '/sign-in'],
  ] as const)
    await shoot(visitor, [name, path]);
});
const { visitor, ids, seeded } = showcase;
visitor.page.setDefaultTimeout(LONG_MS);
try {
  const template = `/templates/${ids.template}`;
  const pages: readonly Picture[] = [
    ['overview', '/'],
    ['playground', '/playground', run],
    ['renders', '/renders'],
    ['side-panel', '/renders', () => visitor.page.click('tbody tr:nth-child(3) td[data-title=Took]')],
    ['render', `/renders/${ids.render}`],
    ['failed', `/renders/${ids.failed}`],
    ['batches', '/batches'],
    ['batch', `/batches/${ids.batch}`],
    ['new-batch', `/batches/new?template=${ids.template}`, pick],
    ['compare', `/compare?a=${ids.render}&b=${ids.other}`],
    ['templates', '/templates'],
    ['template', template, run],
    ['webhooks', '/webhooks'],
    ['keys', '/keys'],
    ['logs', '/logs'],
    ['audit', '/audit'],
    ['billing', '/billing'],
    ['members', '/members'],
    ['settings', '/settings'],
  ];
  const dialogs: readonly Picture[] = [
    ['palette', '/', () => search('invoice')],
    ['shortcuts', '/', () => visitor.page.keyboard.press('?')],
    ['save-view', '/renders?status=failed', press('Save this view')],
    ['retry-selected', '/renders?status=failed', retry],
    ['share', `/renders/${ids.render}`, press('Share')],
    ['gallery', '/templates', press('New template')],
    ['publish', template, () => draft('Publish')],
    ['draft', template, () => draft()],
    ['discard-draft', template, () => draft('Discard draft')],
    ['delete-template', template, press('Delete')],
    ['compare-versions', template, press('Compare')],
    ['roll-back', template, press('Roll back to version 1')],
    ['delivery', '/webhooks', openRow('failed')],
    ['replay-failed', '/webhooks', press('Replay failed')],
    ['request', '/logs', () => visitor.page.click('.row-opener')],
    ['request-details', '/logs', press('Headers and bodies are kept for 7 days')],
    ['new-key', '/keys', press('New key')],
    ['edit-key', '/keys', press('Edit Shop')],
    ['rotate-key', '/keys', press('Rotate Shop')],
    ['revoke-key', '/keys', press('Revoke Shop')],
    ['upgrade', '/billing', press('Upgrade to Business')],
    ['downgrade', '/billing', press('Downgrade to Starter')],
    ['cancel-subscription', '/billing', press('Cancel subscription')],
    ['invite', '/members', press('Invite someone')],
    ['change-role', '/members', press('Change role grace@example.com')],
    ['make-owner', '/members', press('Make owner grace@example.com')],
    ['remove-member', '/members', press('Remove grace@example.com')],
    ['add-domain', '/members', press('Add a domain')],
    ['change-domain', '/members', press('Change example.com')],
    ['remove-domain', '/members', press('Remove example.com')],
    ['add-passkey', '/settings', press('Add a passkey')],
    ['authenticator-app', '/settings', press('Set up an app')],
    ['passkey', '/settings', passkey],
    ['rename-passkey', '/settings', press('Rename Laptop')],
    ['remove-passkey', '/settings', press('Remove Laptop')],
    ['recovery-codes', '/settings', press('New recovery codes')],
    ['signing-key', '/webhooks', press('New signing key')],
    ['new-api-key', '/keys', newKey],
    ['not-found', `/renders/${seeded.completedId.slice(0, -1)}x`],
  ];
  for (const picture of [...pages, ...dialogs]) await shoot(visitor, picture);
} finally {
  await showcase.close();
  await rm(temporary, { recursive: true, force: true });
}
for (const each of missing) console.error(each);
// Connections of the test database are kept open.
process.exit(missing.length === 0 ? 0 : 1);

function press(name: string) {
  return () => visitor.press(name);
}

/** Renders what stands on the page. */
async function run(): Promise<void> {
  await visitor.page.locator('.editor').click();
  await visitor.control('Enter');
  await visitor.page.waitForSelector('iframe.pdf');
}

async function pick(): Promise<void> {
  const field = await visitor.page.waitForSelector('input[type=file]');
  await (field as ElementHandle<HTMLInputElement>).uploadFile(rows);
  await visitor.page.waitForSelector('tbody select');
}

async function search(text: string): Promise<void> {
  await visitor.control('k');
  await visitor.page.waitForSelector('dialog[open] input');
  await visitor.page.keyboard.type(text);
  await visitor.sees('Template');
}

async function retry(): Promise<void> {
  await visitor.page.click('tbody input[type=checkbox]');
  await visitor.page.locator('.selected ::-p-text(Retry)').click();
}

/** A template that differs from what is published. @param then the button that is pressed. */
async function draft(then?: string): Promise<void> {
  await visitor.fill('Name', 'Invoice of the shop');
  await visitor.control('s');
  await visitor.sees('Discard draft');
  if (then !== undefined) await visitor.press(then);
}

function openRow(status: string) {
  return () => visitor.page.locator(`tr:has(.badge) ::-p-text(${status})`).click();
}

async function passkey(): Promise<void> {
  if (await visitor.page.$('::-p-text(Laptop)')) return;
  await visitor.press('Add a passkey');
  await visitor.fill('Name', 'Laptop');
  await visitor.press('Create passkey');
  await visitor.sees('Your recovery codes');
}

async function newKey(): Promise<void> {
  await visitor.press('New key');
  await visitor.fill('Name', 'Shop, for trying');
  await visitor.press('Create key');
  await visitor.sees('Your new key');
}

async function shoot(visitor: Visitor, [name, path, prepare]: Picture): Promise<void> {
  if (names.length > 0 && !names.includes(name)) return;
  for (const [setView, view] of Object.entries(VIEWS)) {
    const file = `${name}-${setView}`;
    if (GUIDE !== undefined && !GUIDE.includes(`/${file}.webp`)) continue;
    await visitor.setView(view);
    await visitor.go(path);
    await visitor.page.waitForNetworkIdle({ concurrency: 1 });
    try {
      await prepare?.(visitor);
    } catch (error) {
      missing.push(`The picture ${file} is not taken: ${(error as Error).message}`);
      continue;
    }
    // All but the stream of hints.
    await visitor.page.waitForNetworkIdle({ concurrency: 1 });
    await visitor.page.evaluate(showDocument, drawn);
    // A preview is beside what was typed where there is room, and below it else.
    if (setView !== 'phone') await visitor.page.evaluate(() => window.scrollTo(0, 0));
    const isDialog = (await visitor.page.$('dialog[open]')) !== null;
    await visitor.page.screenshot({
      ...(GUIDE === undefined
        ? { path: join(folder!, `${file}.png`), type: 'png', fullPage: !isDialog }
        : { path: join(folder!, `${file}.webp`), type: 'webp', quality: 75 }),
    });
  }
}

/** A browser without a window has no viewer of PDFs: what the document looks like is put in its place. */
function showDocument(drawn: string): void {
  for (const frame of document.querySelectorAll('iframe.pdf')) {
    const picture = new Image();
    picture.src = drawn;
    picture.className = 'pdf';
    picture.style.objectFit = 'contain';
    picture.style.objectPosition = 'top';
    frame.replaceWith(picture);
  }
}

/** A picture of a document, as an address. */
async function draw(visitor: Visitor, html: string): Promise<string> {
  const page = await visitor.page.browser().newPage();
  await page.setViewport({ width: 794, height: 560 });
  await page.setContent(`<style>body { font-family: sans-serif; margin: 60px }</style>${html}`);
  const picture = await page.screenshot({ encoding: 'base64', type: 'webp' });
  await page.close();
  return `data:image/webp;base64,${picture}`;
}
