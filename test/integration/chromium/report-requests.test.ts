import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import type { LoggedRequest } from '../../../src/render/report/recorded-requests.ts';
import { warningsOf } from '../../../src/render/report/warnings.ts';
import { type Page, serveWebPages, WEB_SOCKET, type WebPages } from '../../support/web-pages.ts';
import { type Bench, render, startBench } from './support.ts';

const FONT = fileURLToPath(import.meta.resolve('pdfjs-dist/standard_fonts/LiberationSans-Bold.ttf'));
const PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
const CACHED = 'max-age=3600';

const reply =
  (type: string, body: string | Buffer, headers: Record<string, string> = {}): Page =>
  (_request, response) =>
    response
      .writeHead(200, {
        'content-type': type,
        'cache-control': 'no-store',
        'access-control-allow-origin': '*',
        ...headers,
      })
      .end(body);
const picture = (cacheControl = 'no-store') =>
  reply('image/svg+xml', PICTURE, { 'cache-control': cacheControl });
const redirect =
  (to: string): Page =>
  (_request, response) =>
    response.writeHead(302, { location: to, 'cache-control': 'no-store' }).end();
const script = (text: string) => reply('text/javascript', text);

/** What is not sent at all: by an option, or by the rules for addresses. */
const PREVENTED: ReadonlySet<string | null> = new Set(['blockRequests', 'egress']);

const markup = (site: string) => `
  <link rel=stylesheet href="${site}/sheet.css">
  <p style="font: 20px Web">A</p>
  <img src="${site}/redirected"><img src="${site}/cached.svg"><img src="${site}/cached.svg"><img src="${site}/none.svg">
  <img src="${site}/banner.svg"><img src="http://10.1.2.3/private.svg">
  <iframe src="${site}/frame"></iframe>`;

const scripts = (site: string) => `<script>
  let left = 3;
  const done = () => { left -= 1; if (left === 0) globalThis.allDone = true; };
  fetch('${site}/data.json').then((response) => response.text()).then(done);
  new WebSocket('${site.replace('http', 'ws')}/socket').onopen = done;
  const code = "importScripts('${site}/imported.js'); fetch('${site}/from-worker').then((r) => r.text()).then(() => postMessage(1))";
  new Worker(URL.createObjectURL(new Blob([code]))).onmessage = done;
</script>`;

/** An address and how it was answered; null for a connection that was handed on. */
type Exchange = readonly [path: string, status: number | null];

describe('the requests in the report of a render', () => {
  let bench: Bench;
  let site: WebPages;
  const statuses = new Map<string, number>([
    ['/redirected', 302],
    ['/redirected-again', 302],
    ['/none.svg', 404],
    ['/socket', 101],
  ]);

  before(async () => {
    bench = await startBench();
    const pages: Record<string, Page> = {
      '/sheet.css': reply(
        'text/css',
        '@import "/imported.css"; @font-face { font-family: Web; src: url(/font.ttf) }',
      ),
      '/imported.css': reply('text/css', 'p { background: url(/background.svg) }'),
      '/background.svg': picture(),
      '/font.ttf': reply('font/ttf', readFileSync(FONT)),
      '/redirected': redirect('/redirected-again'),
      '/redirected-again': redirect('/picture.svg'),
      '/picture.svg': picture(),
      '/cached.svg': picture(CACHED),
      '/banner.svg': picture(),
      '/frame': reply('text/html', '<img src="/in-frame.svg"><script src="/in-frame.js"></script>'),
      '/in-frame.svg': picture(CACHED),
      '/in-frame.js': script('1'),
      '/data.json': reply('application/json', '{}'),
      '/imported.js': script('1'),
      '/from-worker': reply('text/plain', 'x'),
      '/socket': WEB_SOCKET,
      '/still': (request, response) => pageAt(markup(site.url), request, response),
      '/scripted': (request, response) => pageAt(markup(site.url) + scripts(site.url), request, response),
    };
    site = await serveWebPages(pages);
  });
  after(async () => {
    await bench?.close();
    await site?.close();
  });

  const pageAt = (html: string, ...exchange: Parameters<Exclude<Page, string | symbol>>) => {
    const page = reply('text/html', html) as Exclude<Page, string | symbol>;
    page(...exchange);
  };

  const waits: RenderOptions = { waitForExpression: 'globalThis.allDone' };
  const MODES: readonly (readonly [string, () => Parameters<typeof render>[1], RenderOptions?])[] = [
    ['a still document', () => markup(site.url)],
    ['a document with script', () => markup(site.url) + scripts(site.url), waits],
    ['a still page', () => ({ url: `${site.url}/still` })],
    ['a page with script', () => ({ url: `${site.url}/scripted` }), waits],
  ];

  for (const [name, document, options] of MODES) {
    it(`are those that the site has counted, three times over: ${name}`, async () => {
      let cached = 0;
      for (let round = 0; round < 3; round += 1) {
        const before = site.requests.length;
        const { findings } = await render(
          bench,
          document(),
          { report: true, blockRequests: { urls: ['*banner*'] }, ...options },
          { accountId: name },
        );
        const { entries } = findings!.requests;
        const sent = entries.filter(({ rule }) => rule !== 'cache' && !PREVENTED.has(rule));
        const counted = site.requests
          .slice(before)
          .map(({ path }): Exchange => [path, statuses.get(path) ?? 200]);
        assert.deepEqual(inOrder(sent.map(exchangeOf)), inOrder(counted), `round ${round}`);
        assert.deepEqual(
          entries.filter(({ rule }) => PREVENTED.has(rule)).map(({ outcome, url }) => [outcome, url]),
          [
            ['blocked', `${site.url}/banner.svg`],
            ['blocked', 'http://10.1.2.3/private.svg'],
          ],
        );
        cached += entries.filter(({ rule }) => rule === 'cache').length;
        // A waterfall: what a style sheet imports is asked for once that has come.
        const sheet = entries.find(({ url }) => url.endsWith('/sheet.css'))!;
        const imported = entries.find(({ url }) => url.endsWith('/imported.css'))!;
        assert.ok(imported.startMs >= sheet.startMs, `${imported.startMs} before ${sheet.startMs}`);
      }
      // A page that had a worker is not used again, and its cache with it.
      assert.equal(cached > 0, options === undefined);
    });
  }

  const RELATIVE_ASSETS = `<!doctype html><link rel=stylesheet href="style.css"><img src=img/logo.png>
    <img src="img/logo.png"><img src="/rooted.png?token=secret-of-mine"><p style="background: url('./bg.png')">x</p>`;
  for (const [name, html, more] of [
    ['a still document', RELATIVE_ASSETS, []],
    [
      'a document with script',
      `${RELATIVE_ASSETS}<script src="/app.js"></script><script>fetch('data.json').catch(() => 0);
        const code = "fetch('http://document.localhost/of-worker').finally(() => postMessage(1))";
        new Worker(URL.createObjectURL(new Blob([code]))).onmessage = () => { globalThis.allDone = true };</script>`,
      ['/app.js', 'data.json', 'of-worker'],
    ],
  ] as const) {
    it(`include what was written by relative addresses, under the written names: ${name}`, async () => {
      const options = { report: true, ...(more.length > 0 && waits) };
      const { findings } = await render(bench, html, options);
      const { entries } = findings!.requests;
      assert.deepEqual(
        entries.map(({ url }) => url).sort(),
        [...['/rooted.png?token=***', 'bg.png', 'img/logo.png', 'style.css'], ...more].sort(),
      );
      for (const { outcome, rule, status } of entries)
        assert.deepEqual([outcome, rule, status], ['unreachable', 'relative address without baseUrl', null]);
      const warnings = warningsOf(findings!);
      for (const { url } of entries)
        assert.ok(
          warnings.some((warning) => warning.startsWith(`${url} was not`)),
          url,
        );
    });
  }

  it('name a bounded number of relative addresses in warnings, and count the others', async () => {
    const pictures = Array.from({ length: 510 }, (_, i) => `<img src="${i}.png">`).join('');
    const { findings } = await render(bench, pictures, { report: true });
    const warnings = warningsOf(findings!);
    assert.equal(warnings.length, 21);
    assert.equal(warnings.at(-1), '480 more relative addresses were not loaded');
    assert.equal(findings!.requests.cut, true);
  });

  it('fail a render by a relative address under either rule for assets, and not under others', async () => {
    const html = '<p>x<img src="logo.png">';
    for (const failOn of [{ assetStatus: ['404'] }, { assetUnreachable: true }]) {
      await assert.rejects(render(bench, html, { failOn }), (error: PlatenError) => {
        assert.equal(error.code, 'ASSET_FAILED');
        assert.match(error.message, /^logo\.png could not be loaded \(relative address without baseUrl\)/);
        return true;
      });
    }
    await render(bench, html, { failOn: { assetStatus: ['500-599'], exception: true } });
  });

  function exchangeOf({ url, status }: LoggedRequest): Exchange {
    return [url.replace(/^(http|ws):\/\/[^/]+/, ''), status];
  }
});

function inOrder(exchanges: readonly Exchange[]): string[] {
  return exchanges.map(([path, status]) => `${status} ${path}`).sort();
}
