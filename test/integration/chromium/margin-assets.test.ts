import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { warningsOf } from '../../../src/render/report/warnings.ts';
import { type Rgb, readPdf, renderPage } from '../../support/pdf.ts';
import { type Bench, render, type Site, startBench, startSite } from './support.ts';

const FONT = readFileSync(
  fileURLToPath(import.meta.resolve('pdfjs-dist/standard_fonts/LiberationSans-Bold.ttf')),
);
const RED: Rgb = [255, 0, 0];
const SQUARE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="red"/></svg>';
const BOX = 'width: 40px; height: 40px; print-color-adjust: exact';
const HEAD = '<p style="font-size: 10px">HEAD</p>';
const TARGETS = ['/to-private', '/to-file', '/round'];

describe('what headers and footers refer to', () => {
  let bench: Bench;
  let site: Site;
  const sent: Buffer[] = [];

  before(async () => {
    bench = await startBench();
    site = await startSite((request, response) => {
      const path = request.url ?? '';
      const reply = (type: string, body: string | Buffer, headers = {}) =>
        response.writeHead(200, { 'content-type': type, ...headers }).end(body);
      if (path.startsWith('/red')) reply('image/svg+xml', SQUARE);
      else if (path === '/moved') response.writeHead(302, { location: site.at('/red.svg', 'other') }).end();
      else if (path === '/font.ttf') reply('font/ttf', FONT);
      else if (path === '/sheet/a.css') reply('text/css', '@import "b.css" print;');
      else if (path === '/sheet/b.css')
        reply('text/css', `i { display: block; ${BOX}; background: url(../red.svg) }`);
      else if (path === '/gzip.css')
        reply('text/css', gzipSync('p { background: red; print-color-adjust: exact }'), {
          'content-encoding': 'gzip',
        });
      else if (path === '/bomb.css')
        reply('text/css', gzipSync(Buffer.alloc(50_000_000)), { 'content-encoding': 'gzip' });
      else if (path === '/self.css')
        reply('text/css', '@import "self.css"; p { background: red; print-color-adjust: exact }');
      else if (path === '/chain.css?9') reply('text/css', 'p { background: red; print-color-adjust: exact }');
      else if (path.startsWith('/chain.css'))
        reply(
          'text/css',
          `@import "chain.css?${Number(path.split('?')[1]) + 1}"; p { background: red; print-color-adjust: exact }`,
        );
      else if (path === '/huge.png') {
        response.writeHead(200, { 'content-type': 'image/png' });
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      } else if (path === '/never.png') sent.push(Buffer.from(path));
      else if (path === '/to-private') response.writeHead(302, { location: 'http://10.1.2.3/x.png' }).end();
      else if (path === '/to-file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else if (path === '/round') response.writeHead(302, { location: '/round' }).end();
      else response.writeHead(404).end();
    });
  });
  after(async () => {
    await bench?.close();
    await site?.close();
  });

  /** Renders `part` as the header of a document, and reads the PDF back. */
  async function printed(
    part: string,
    options: RenderOptions = {},
    document: Parameters<typeof render>[1] = '<p>body',
  ) {
    const before = site.requests.length;
    const { bytes, findings } = await render(bench, document, {
      displayHeaderFooter: true,
      headerTemplate: part + HEAD,
      footerTemplate: '<i></i>',
      margin: { top: '4cm' },
      report: true,
      ...options,
    });
    const { text } = await readPdf(bytes);
    const red = (await renderPage(bytes)).countColor(RED);
    const requests = findings!.requests.entries.map(({ outcome, rule, error, status }) => ({
      outcome,
      rule,
      error,
      status,
    }));
    return {
      text,
      bytes,
      red,
      requests,
      warnings: warningsOf(findings!),
      asked: site.requests.slice(before),
    };
  }

  const REFERENCES: Readonly<Record<string, () => string>> = {
    'a picture': () => `<img src="${site.at('/red.svg')}">`,
    'a picture of a choice': () => `<img srcset="${site.at('/red.svg')} 1x, ${site.at('/none.svg')} 2x">`,
    'a picture in SVG': () =>
      `<svg width=40 height=40><image xlink:href="${site.at('/red.svg')}" width=40 height=40 /></svg>`,
    'a background in an attribute': () =>
      `<i style="display: block; ${BOX}; background: url('${site.at('/red.svg')}')"></i>`,
    'a background in a style sheet': () =>
      `<style>i { display: block; ${BOX}; background: URL( ${site.at('/red.svg')} ) }</style><i></i>`,
    'a style sheet that imports another, with relative addresses': () =>
      `<link rel="stylesheet" href="${site.at('/sheet/a.css')}"><i></i>`,
    'a style sheet imported in one': () =>
      `<style>@import url("${site.at('/sheet/b.css')}") print;</style><i></i>`,
    'an import with escapes and a comment': () =>
      `<style>@\\69 mp\\6frt/**/u\\72l(${site.at('/sheet/b.css')});</style><i></i>`,
    'an import in SVG, with references': () =>
      `<svg width=0 height=0><style>&#64;import "${site.at('/sheet/b.css')}";</style></svg><i></i>`,
    'an import in a data: address': () =>
      `<style>@import "data:text/css,@import '${site.at('/sheet/b.css')}';";</style><i></i>`,
  };
  for (const [name, part] of Object.entries(REFERENCES)) {
    it(`is printed: ${name}`, async () => {
      const { text, red, warnings } = await printed(part());
      assert.match(text, /HEAD/);
      assert.ok(red >= 800, `${red}`);
      assert.deepEqual(warnings, []);
    });
  }

  it('is printed in the margins of the first and last page, and fetched once', async () => {
    const picture = `<img src="${site.at('/red.svg')}">`;
    const { red, asked } = await printed(picture, {
      firstHeaderTemplate: picture,
      lastFooterTemplate: picture,
    });
    assert.ok(red >= 1600, `${red}`);
    assert.equal(asked.length, 1);
  });

  it('may be a web font', async () => {
    const font = `<style>@font-face { font-family: W; src: url(${site.at('/font.ttf')}) } p { font-family: W, serif }</style>`;
    const { bytes, requests } = await printed(font);
    assert.ok(Buffer.from(bytes).toString('latin1').includes('LiberationSans-Bold'));
    assert.deepEqual(
      requests.map(({ outcome }) => outcome),
      ['loaded'],
    );
  });

  it('is resolved against baseUrl, or the source URL; else the report names it as it was written', async () => {
    const relative = '<img src="red.svg">';
    assert.ok((await printed(relative, { baseUrl: site.at('/') })).red >= 800);
    const { red, warnings } = await printed(relative);
    assert.equal(red, 0);
    assert.deepEqual(warnings, ['red.svg was not loaded: it is a relative address, and there is no baseUrl']);
  });

  it('is told of by the report, and fails a render by failOn, when it is not received', async () => {
    const { text, requests, warnings } = await printed(
      `<link rel=stylesheet href="${site.at('/none.css')}">`,
    );
    assert.match(text, /HEAD/);
    assert.deepEqual(
      requests.map(({ outcome, status }) => [outcome, status]),
      [['error', 404]],
    );
    assert.match(warnings.join(), /none\.css answered 404/);
    await assert.rejects(
      printed(`<img src="${site.at('/none.png')}">`, { failOn: { assetStatus: ['404'] } }),
      { code: 'ASSET_FAILED' },
    );
  });

  it('is not fetched where the rules for addresses forbid it, nor by a redirect there', async () => {
    const { text, requests } = await printed(
      [`http://10.1.2.3/x.png`, ...TARGETS.map((path) => site.at(path))]
        .map((url) => `<img src="${url}">`)
        .join(''),
    );
    assert.match(text, /HEAD/);
    assert.deepEqual(
      requests.map(({ outcome, rule, error }) => rule ?? error ?? outcome).sort(),
      ['egress', 'no response', 'redirected to an address that is not fetched', 'too many redirects'].sort(),
    );
  });

  it('is blocked by blockRequests', async () => {
    const part = `<img src="${site.at('/red.svg')}"><link rel=stylesheet href="${site.at('/sheet/b.css')}">`;
    const { asked, requests } = await printed(part, {
      blockRequests: { urls: ['*red*'], kinds: ['stylesheet'] },
    });
    assert.deepEqual(asked, []);
    assert.deepEqual(
      requests.map(({ rule }) => rule),
      ['blockRequests', 'blockRequests'],
    );
  });

  it('gets asset headers where the caller has written its origin, and no redirect to another one does', async () => {
    const assetHeaders = { 'X-Asset': 'secret' };
    const heads = async (
      part: string,
      options: RenderOptions = {},
      document?: Parameters<typeof render>[1],
    ) =>
      (await printed(part, { assetHeaders, ...options }, document)).asked.map(
        ({ headers }) => headers['x-asset'],
      );
    assert.deepEqual(await heads(`<img src="${site.at('/red.svg')}">`), ['secret']);
    assert.deepEqual(await heads(`<img src="${site.at('/moved')}">`), ['secret', undefined]);
    assert.deepEqual(
      await heads(`<img src="${site.at('/red.svg')}">`, { assetOrigins: ['https://a.example'] }),
      [undefined],
    );
  });

  it('prints a header without what is too large, never comes, imports itself or is too much', async () => {
    const cases: [part: string, error: RegExp][] = [
      [`<img src="${site.at('/huge.png')}">`, /huge\.png could not be loaded: larger than 2097152 bytes/],
      [
        `<link rel=stylesheet href="${site.at('/bomb.css')}">`,
        /bomb\.css could not be loaded: larger than 2097152 bytes/,
      ],
      [`<img src="${site.at('/never.png')}">`, /never\.png could not be loaded: no response in time/],
    ];
    for (const [part, error] of cases) {
      const { text, warnings } = await printed(part);
      assert.match(text, /HEAD/);
      assert.match(warnings.join(), error);
    }
    for (const path of ['/self.css', '/chain.css?1', '/gzip.css']) {
      const { text, red } = await printed(`<link rel=stylesheet href="${site.at(path)}"><p>x`);
      assert.match(text, /HEAD/);
      assert.ok(red > 0, path);
    }
  });

  it('is said to be missing, with its header, where that is not displayed', async () => {
    const { text, warnings } = await printed('', { displayHeaderFooter: false, lastFooterTemplate: 'x' });
    assert.equal(text, 'body');
    assert.deepEqual(
      warnings,
      ['headerTemplate', 'footerTemplate', 'lastFooterTemplate'].map(
        (name) => `${name} is not printed: displayHeaderFooter is not set`,
      ),
    );
    assert.deepEqual((await printed('')).warnings, []);
  });

  it('is a bounded number of files', async () => {
    const pictures = Array.from(
      { length: 1000 },
      (_, i) => `<img width=1 src="${site.at(`/red${i}`)}">`,
    ).join('');
    await assert.rejects(printed(pictures), {
      code: 'VALIDATION',
      message: /options\.headerTemplate: must not hold more than 300 tags/,
    });
    const { text, asked, warnings } = await printed(
      pictures.slice(0, pictures.indexOf('/red200') - 40).replace(/<[^>]*$/, ''),
    );
    assert.match(text, /HEAD/);
    assert.equal(asked.length, 64);
    assert.ok(warnings.some((warning) => /more than 64 files/.test(warning)));
  });
});
