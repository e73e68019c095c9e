import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { TestClient } from '../support/client.ts';
import { readPdf, renderPage } from '../support/pdf.ts';
import { openStandaloneService, type Tenant, type TestService } from '../support/service.ts';
import { serveWebPages, type WebPages } from '../support/web-pages.ts';

type Options = Record<string, unknown>;
type Pdf = Awaited<ReturnType<typeof readPdf>>;
type Mode = 'html' | 'url' | 'template';

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1.5, `${actual} ≠ ${expected}`);
const RED: readonly [number, number, number] = [255, 0, 0];
const RED_SQUARE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="red"/></svg>';
/** In a case's document: where its pictures and fonts are. */
const ORIGIN = 'http://assets';
/** Milliseconds. */
const SLOW = 400;

/** What an option does to the PDF of a document, whichever way the document comes in. */
const CASES: {
  name: string;
  html: string;
  options: Options;
  proof(pdf: Pdf, bytes: Uint8Array): void | Promise<void>;
}[] = [
  {
    name: 'format and landscape',
    html: '<p>x</p>',
    options: { format: 'A5', landscape: true },
    proof({ pages: [page] }) {
      near(page!.width, 595);
      near(page!.height, 420);
    },
  },
  {
    name: 'preferCSSPageSize',
    html: '<style>@page { size: 100mm 50mm }</style><p>x</p>',
    options: { preferCSSPageSize: true, format: 'A3' },
    proof({ pages: [page] }) {
      near(page!.width, 283.5);
      near(page!.height, 141.7);
    },
  },
  {
    name: 'printBackground off',
    html: '<body style="background: red"><p>x</p>',
    options: { printBackground: false },
    async proof(_pdf, bytes) {
      assert.equal((await renderPage(bytes)).countColor(RED), 0);
    },
  },
  {
    name: 'printBackground by default',
    html: '<body style="background: red"><p>x</p>',
    options: {},
    async proof(_pdf, bytes) {
      assert.ok((await renderPage(bytes)).countColor(RED) > 100_000);
    },
  },
  {
    name: 'margin',
    html: '<body style="margin: 0"><div style="background: red; height: 20px"></div>',
    options: { margin: { top: '2in', left: '1in' } },
    async proof(_pdf, bytes) {
      const page = await renderPage(bytes);
      const { left, top } = page.boxOfColor(RED)!;
      near(left, 72);
      near(top, 144);
    },
  },
  {
    name: 'header and footer on every page',
    html: '<p>one</p><p style="break-before: page">two</p>',
    options: {
      displayHeaderFooter: true,
      headerTemplate: '<span style="font-size: 10px">Head</span>',
      footerTemplate:
        '<span style="font-size: 10px">Foot <b class="pageNumber"></b> of <b class="totalPages"></b></span>',
      margin: { top: '20mm', bottom: '20mm' },
    },
    proof({ pages }) {
      assert.equal(pages.length, 2);
      for (const [i, page] of pages.entries()) {
        assert.match(page.text, /Head/);
        assert.match(page.text.replaceAll(/\s+/g, ' '), new RegExp(`Foot ${i + 1} of 2`));
      }
    },
  },
  {
    name: 'scale',
    html: '<body style="margin: 0"><div style="background: red; width: 100px; height: 100px"></div>',
    options: { scale: 2 },
    async proof(_pdf, bytes) {
      const { left, right } = (await renderPage(bytes)).boxOfColor(RED)!;
      near(right - left, 150);
    },
  },
  {
    name: 'waitForSelector',
    html: '<script>setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<b id=late>late</b>"), 400)</script><p>x</p>',
    options: { waitForSelector: '#late' },
    proof: ({ text }) => assert.match(text, /late/),
  },
  {
    name: 'delayMs',
    html: '<body><script>setTimeout(() => { document.body.textContent = "after a while" }, 300)</script>',
    options: { delayMs: 700 },
    proof: ({ text }) => assert.match(text, /after a while/),
  },
  {
    name: 'javascriptEnabled off',
    html: '<p>plain</p><script>document.write("scripted")</script>',
    options: { javascriptEnabled: false },
    proof({ text }) {
      assert.match(text, /plain/);
      assert.doesNotMatch(text, /scripted/);
    },
  },
  {
    name: 'csp',
    html: '<p>plain</p><script>document.write("scripted")</script>',
    options: { csp: "script-src 'none'" },
    proof({ text }) {
      assert.match(text, /plain/);
      assert.doesNotMatch(text, /scripted/);
    },
  },
  {
    name: 'watermark on every page',
    html: '<p>one</p><p style="break-before: page">two</p>',
    options: { watermark: { text: '機密 DRAFT', opacity: 0.6, rotation: 0, color: 'red' } },
    proof({ pages }) {
      for (const page of pages) assert.match(page.text, /DRAFT/);
    },
  },
  {
    name: 'metadata',
    html: '<title>Not this</title><p>x</p>',
    options: {
      metadata: {
        title: 'Rëport',
        author: 'Ada',
        subject: 'Sums',
        creator: 'Shop',
        producer: 'Us',
        keywords: ['a', 'b c'],
      },
    },
    proof({ metadata }) {
      assert.deepEqual(
        { ...metadata },
        { ...metadata, title: 'Rëport', author: 'Ada', subject: 'Sums', creator: 'Shop', producer: 'Us' },
      );
      assert.match(String(metadata.keywords), /a.*b c/);
    },
  },
  {
    name: 'tagged',
    html: '<h1>x</h1>',
    options: { tagged: true },
    proof: ({ tagged }) => assert.equal(tagged, true),
  },
  {
    name: 'what a script draws in an animation frame',
    html: '<canvas id=c width=100 height=100></canvas><script>requestAnimationFrame(() => { const c = document.getElementById("c").getContext("2d"); c.fillStyle = "red"; c.fillRect(0, 0, 100, 100) })</script>',
    options: {},
    async proof(_pdf, bytes) {
      assert.ok((await renderPage(bytes)).countColor(RED) > 3000);
    },
  },
  ...(['load', 'networkidle'] as const).map((waitUntil) => ({
    name: `waitUntil ${waitUntil}`,
    // Whoever waits only for the document to be loaded is not to see it, however long that takes: it never comes.
    html: `<p id=p>loaded</p><script>addEventListener('load', () => setTimeout(() => {
      const image = new Image(); image.onload = () => { p.textContent = 'idle' };
      image.src = '${ORIGIN}/${waitUntil === 'load' ? 'never' : 'slow/a'}.svg' }, 20))</script>`,
    options: { waitUntil },
    proof: ({ text }: Pdf) => assert.equal(text.trim(), waitUntil === 'load' ? 'loaded' : 'idle'),
  })),
  {
    name: 'waitUntil domcontentloaded',
    html: `<p>there</p><script>1</script><img src="${ORIGIN}/never.svg">`,
    options: { waitUntil: 'domcontentloaded', timeoutMs: 5000 },
    proof: ({ text }) => assert.match(text, /there/),
  },
  {
    name: 'what observers draw, however far down',
    html: `<canvas id=a width=100 height=100></canvas><div style="height: 3000px"></div><canvas id=b width=100 height=100></canvas><script>
      const draw = (canvas) => { const c = canvas.getContext("2d"); c.fillStyle = "red"; c.fillRect(0, 0, 100, 100) };
      new ResizeObserver(() => draw(a)).observe(a);
      new IntersectionObserver(([entry]) => entry.isIntersecting && draw(b)).observe(b)</script>`,
    options: {},
    async proof({ pages }, bytes) {
      for (const number of [1, pages.length]) {
        assert.ok((await renderPage(bytes, number)).countColor(RED) > 3000, `page ${number}`);
      }
    },
  },
  {
    name: 'lazy images, however far down',
    html: `<div style="height: 9000px"></div><img loading=lazy src="${ORIGIN}/slow/b.svg">`,
    options: {},
    async proof({ pages }, bytes) {
      assert.ok((await renderPage(bytes, pages.length)).countColor(RED) > 3000);
    },
  },
  {
    name: 'web fonts',
    html: `<style>@font-face { font-family: f; src: url(${ORIGIN}/slow/f.ttf) } p { font: 40px f }</style><p>mmmm</p>`,
    options: {},
    proof({ text }, bytes) {
      assert.match(text, /mmmm/);
      assert.ok(Buffer.from(bytes).includes('LiberationSans-Bold'), 'the font is embedded');
    },
  },
];

describe('every option, in every input mode', () => {
  let service: TestService;
  let tenant: Tenant;
  let client: TestClient;
  let pages: WebPages;
  before(async () => {
    service = await openStandaloneService();
    tenant = await service.newTenant('business');
    client = tenant.client;
    pages = await serveWebPages({
      ...Object.fromEntries(
        CASES.map(({ html }, i) => [`/case-${i}`, `<!doctype html>${html.replaceAll(ORIGIN, '')}`]),
      ),
      '/slow/a.svg': slowly('image/svg+xml', RED_SQUARE),
      '/slow/b.svg': slowly('image/svg+xml', RED_SQUARE),
      '/slow/f.ttf': slowly('font/ttf', font()),
      '/never.svg': () => undefined,
      '/guarded.css': (request, response) => {
        const open = request.headers.authorization === 'Bearer asset';
        response.writeHead(open ? 200 : 401, { 'content-type': 'text/css' }).end('p { color: red }');
      },
      '/guarded': (request, response) => {
        const open = request.headers.authorization === 'Bearer asset';
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end(open ? '<link rel=stylesheet href=/guarded.css><p>let in</p>' : '<p>kept out</p>');
      },
    });
  });
  after(async () => {
    await pages?.close();
    await service?.stop();
  });

  const inputOf = async (mode: Mode, document: string, path: string) => {
    const html = document.replaceAll(ORIGIN, pages.url);
    if (mode === 'html') return { html: `<!doctype html>${html}` };
    if (mode === 'url') return { url: pages.url + path };
    const { templateId } = await service.saveTemplate(tenant, `<!doctype html>{{ body | raw }}`);
    return { templateId, data: { body: html } };
  };
  const render = async (body: Record<string, unknown>) => {
    const reply = await client.render(body);
    assert.equal(reply.status, 200, Buffer.from(reply.bytes).toString().slice(0, 300));
    return reply.bytes;
  };

  for (const mode of ['html', 'url', 'template'] as const) {
    for (const [i, { name, html, options, proof }] of CASES.entries()) {
      it(`${mode}: ${name}`, async () => {
        const bytes = await render({ ...(await inputOf(mode, html, `/case-${i}`)), options });
        await proof(await readPdf(bytes), bytes);
      });
    }

    it(`${mode}: timeoutMs`, async () => {
      const html = '<p>x</p>';
      const options = { timeoutMs: 1000, delayMs: 3000 };
      const reply = await client.render({ ...(await inputOf(mode, html, '/case-0')), options });
      assert.equal(reply.status, 202, 'another attempt follows');
      const { error, attemptCount } = await client.end(reply.json.jobId);
      assert.deepEqual([error.code, attemptCount], ['RENDER_TIMEOUT', 2]);
    });

    it(`${mode}: assetHeaders`, async () => {
      const html = `<link rel=stylesheet href="${pages.url}/guarded.css"><p>let in</p>`;
      const options = { assetHeaders: { Authorization: 'Bearer asset' } };
      const input =
        mode === 'template'
          ? { templateId: (await service.saveTemplate(tenant, html)).templateId, data: {} }
          : await inputOf(mode, html, '/guarded');
      const bytes = await render({ ...input, options });
      assert.match((await readPdf(bytes)).text, /let in/);
      // Antialiased: letters this small have few pixels of the full colour.
      assert.ok((await renderPage(bytes, 1, 4)).countColor(RED) > 20, 'the guarded style is applied');
    });
  }

  it('template: assetHeaders go where its data leads only when the caller lists that origin', async () => {
    const html = `<link rel=stylesheet href="${pages.url}/guarded.css"><p>let in</p>`;
    const assetHeaders = { Authorization: 'Bearer asset' };
    const input = await inputOf('template', html, '/guarded');
    const isRed = async (options: object) => {
      const bytes = await render({ ...input, options });
      return (await renderPage(bytes, 1, 4)).countColor(RED) > 20;
    };
    assert.equal(await isRed({ assetHeaders }), false);
    assert.equal(await isRed({ assetHeaders, assetOrigins: [new URL(pages.url).origin] }), true);
  });

  it('rejects all values out of bounds at once', async () => {
    const reply = await client.render({
      html: 'x',
      options: { scale: 3, delayMs: -1, format: 'B5', watermark: { opacity: 2 }, nonsense: true },
    });
    assert.equal(reply.status, 400);
    for (const field of ['scale', 'delayMs', 'format', 'watermark.text', 'watermark.opacity', 'nonsense']) {
      assert.ok(
        reply.json.message.some((line: string) => line.includes(field)),
        field,
      );
    }
  });
});

function slowly(type: string, body: string | Buffer) {
  return (_request: IncomingMessage, response: ServerResponse) => {
    const headers = { 'content-type': type, 'access-control-allow-origin': '*', 'cache-control': 'no-store' };
    setTimeout(() => response.writeHead(200, headers).end(body), SLOW);
  };
}

/** Any font that no machine has by another name. */
function font(): Buffer {
  return readFileSync(
    fileURLToPath(import.meta.resolve('pdfjs-dist/standard_fonts/LiberationSans-Bold.ttf')),
  );
}
