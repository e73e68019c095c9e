/**
 * Takes the pictures of docs/guide/dashboard.md: each page in light, dark and phone width. To be looked at before a change of
 * the dashboard is kept: `make dashboard && node_modules/.bin/node test/dashboard/pictures.ts docs/guide/dashboard`.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer';
import { eventually } from '../support/eventually.ts';
import { openStandaloneService } from '../support/service.ts';
import { type View, Visitor } from './support/visitor.ts';

const folder = process.argv[2];
if (folder === undefined) throw new Error('Say which folder the pictures are written to.');

const VIEWS: Readonly<Record<string, View>> = {
  light: { width: 1280, scheme: 'light' },
  dark: { width: 1280, scheme: 'dark' },
  phone: { width: 390, scheme: 'light' },
};
const INVOICE = `<!doctype html><style>body { font-family: sans-serif } td { padding: 4px 16px }</style>
<h1>Invoice {{ number }}</h1><table>{% for line in lines %}<tr><td>{{ line.what }}<td>{{ line.price }}{% endfor %}</table>`;
const SAMPLE = {
  number: '2026-001',
  lines: [
    { what: 'Paper', price: '12.00' },
    { what: 'Ink', price: '34.50' },
  ],
};

await mkdir(folder, { recursive: true });
const temporary = await mkdtemp(join(tmpdir(), 'platen-pictures-'));
const plans = join(temporary, 'plans.yaml');
// As it is built in, and not as tests have it.
await writeFile(plans, 'plans:\n  free: { monthlyRenders: 100 }\n');
const service = await openStandaloneService({ PLATEN_PLANS_FILE: plans });
const visitor = await Visitor.open(service.url);
try {
  const drawn = await draw(`<h1>Invoice 2026-001</h1><p>Thank you for your order.</p>`);
  await shoot('register', '/register');
  await visitor.fill('E-mail address', 'ada@example.com');
  await visitor.fill('Password', 'a long enough pass phrase');
  await visitor.press('Create account');
  await visitor.sees('Your first document');
  const id = await visitor.page.evaluate(async () => (await (await fetch('/auth/me')).json()).id);
  await service.tenants.accounts.setPlan(id, 'professional');
  await eventually('the plan is in force', async () => {
    await visitor.go('/billing');
    return visitor.page.$eval('.plans .current h3', ({ textContent }) => textContent === 'Professional');
  });
  const ids = await visitor.page.evaluate(
    async (content, sample) => {
      const post = async (path: string, body: unknown, more: Record<string, string> = {}) => {
        const headers = { 'content-type': 'application/json', ...more };
        return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
      };
      const template = await post('/user/templates', {
        name: 'Invoice',
        content,
        sampleData: JSON.stringify(sample, null, 2),
      });
      const renders = [];
      for (let i = 0; i < 6; i += 1)
        renders.push(await post('/user/renders', { templateId: template.id, data: sample }));
      const failed = await post('/user/renders', {
        html: '<p>x',
        options: { waitForSelector: '#total', timeoutMs: 1000 },
      });
      await post('/user/api-keys', { name: 'Shop', mode: 'live', allowedIps: ['203.0.113.0/24'] });
      const { apiKey } = await post('/user/api-keys', { name: 'Shop, for trying', mode: 'test' });
      const items = ['2026-001', '2026-002', '2026-003', '2026-004'].map((number) => ({
        id: number,
        templateId: template.id,
        data: { ...sample, number },
      }));
      const wrong = {
        id: '2026-005',
        html: '<p>x',
        options: { failOn: { exception: true }, scripts: ['throw 1'] },
      };
      const batch = await post('/v1/pdf/batch', { items: [...items, wrong] }, { 'x-api-key': apiKey });
      return {
        template: template.id,
        render: renders[0].jobId,
        other: renders[1].jobId,
        failed: failed.jobId,
        batch: batch.jobId,
      };
    },
    INVOICE,
    SAMPLE,
  );
  await visitor.go(`/renders/${ids.failed}`);
  await visitor.sees('did not appear in time');
  await visitor.go(`/batches/${ids.batch}`);
  await visitor.sees('Retry failed');
  await visitor.go(`/templates/${ids.template}`);
  await visitor.fill('Name', 'Invoice of a shop');
  await visitor.press('Save Ctrl S');
  await visitor.sees('Roll back');
  const rows = join(temporary, 'orders.json');
  const orders = ['2026-101', '2026-102', '2026-103'].map((number) => ({
    ...SAMPLE,
    number,
    customer: 'Ada',
  }));
  await writeFile(rows, JSON.stringify(orders));
  const pick = async () => {
    const field = await visitor.page.waitForSelector('input[type=file]');
    await (field as ElementHandle<HTMLInputElement>).uploadFile(rows);
    await visitor.page.waitForSelector('tbody select');
  };
  for (const [name, path, prepare] of [
    ['overview', '/'],
    ['playground', '/playground', run],
    ['renders', '/renders'],
    ['render', `/renders/${ids.render}`],
    ['failed', `/renders/${ids.failed}`],
    ['batch', `/batches/${ids.batch}`],
    ['new-batch', `/batches/new?template=${ids.template}`, pick],
    ['compare', `/compare?a=${ids.render}&b=${ids.other}`],
    ['template', `/templates/${ids.template}`, run],
    ['webhooks', '/webhooks'],
    ['keys', '/keys'],
    ['logs', '/logs'],
    ['audit', '/audit'],
    ['billing', '/billing'],
    ['settings', '/settings'],
  ] as const)
    await shoot(name, path, drawn, prepare);
} finally {
  await visitor.close();
  await service.stop();
  await rm(temporary, { recursive: true, force: true });
}
// Connections of the test database are kept open.
process.exit(0);

/** Renders what stands on the page. */
async function run(): Promise<void> {
  await visitor.page.locator('.editor').click();
  await visitor.control('Enter');
  await visitor.page.waitForSelector('iframe.pdf');
}

/** @param prepare what is done on the page first. */
async function shoot(name: string, path: string, drawn = '', prepare?: () => Promise<void>): Promise<void> {
  for (const [setView, view] of Object.entries(VIEWS)) {
    await visitor.setView(view);
    await visitor.go(path);
    await prepare?.();
    // All but the stream of hints.
    await visitor.page.waitForNetworkIdle({ concurrency: 1 });
    await visitor.page.evaluate(showDocument, drawn);
    await visitor.page.screenshot({
      path: join(folder!, `${name}-${setView}.webp`),
      type: 'webp',
      quality: 75,
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
async function draw(html: string): Promise<string> {
  const page = await visitor.page.browser().newPage();
  await page.setViewport({ width: 794, height: 560 });
  await page.setContent(`<style>body { font-family: sans-serif; margin: 60px }</style>${html}`);
  const picture = await page.screenshot({ encoding: 'base64', type: 'webp' });
  await page.close();
  return `data:image/webp;base64,${picture}`;
}
