import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { fontsInPdf } from '../../image/fonts-in-pdf.ts';
import { type Bench, render, type Site, startBench, startSite } from './support.ts';

const FONT = readFileSync(
  fileURLToPath(import.meta.resolve('pdfjs-dist/standard_fonts/LiberationSans-Bold.ttf')),
);
/** After which a font with `font-display: optional` is late, by far. Chromium gives it 100 ms. */
const LATE_MS = 500;

interface Mode {
  readonly name: string;
  readonly source: (html: string) => Parameters<typeof render>[1];
  readonly options?: RenderOptions;
}

describe('the fonts of a document', () => {
  let bench: Bench;
  let site: Site;
  /** What the page at /page is. */
  let shown = '';
  let hastens = false;

  before(async () => {
    bench = await startBench();
    site = await startSite(({ url }, response) => {
      const { pathname, searchParams } = new URL(url!, 'http://x');
      const anyone = { 'Access-Control-Allow-Origin': '*' };
      if (pathname === '/page') response.writeHead(200, { 'Content-Type': 'text/html' }).end(shown);
      else if (pathname === '/sheet.css')
        response
          .writeHead(200, { ...anyone, 'Content-Type': 'text/css' })
          .end(face('optional', searchParams.get('id')!));
      else {
        const respond = () => response.writeHead(200, { ...anyone, 'Content-Type': 'font/ttf' }).end(FONT);
        setTimeout(respond, hastens ? 0 : LATE_MS);
      }
    });
  });
  after(async () => {
    await bench?.close();
    await site?.close();
  });
  beforeEach(() => {
    hastens = false;
  });

  let fetched = 0;
  /** With a new address each time, since nothing may be in a cache. */
  const face = (display: string, id = `${fetched++}`) =>
    `@font-face { font-family: Brand; src: url(${site.at(`/font-${id}.ttf`)}); font-display: ${display} }`;

  const MODES: readonly Mode[] = [
    { name: 'HTML', source: (html) => html },
    { name: 'HTML with script', source: (html) => `<script>1</script>${html}` },
    { name: 'HTML with a policy', source: (html) => html, options: { csp: "media-src 'none'" } },
    { name: 'HTML with a report', source: (html) => html, options: { report: true } },
    { name: 'HTML in drawn frames', source: (html) => `${html}<style>i { transition: color 0s }</style>` },
    {
      name: 'HTML with a report and script',
      source: (html) => `<script>1</script>${html}`,
      options: { report: true },
    },
    { name: 'a template', source: (html) => ({ html, template: html }) },
    {
      name: 'a source URL',
      source: (html) => {
        shown = html;
        return { url: site.at('/page') };
      },
    },
    {
      name: 'a source URL with a report',
      source: (html) => {
        shown = html;
        return { url: site.at('/page') };
      },
      options: { report: true },
    },
  ];

  const fontsOf = async (html: string, { source, options }: Mode) => {
    const { bytes } = await render(bench, source(html), options);
    return [...new Set((await fontsInPdf(bytes)).map(({ name }) => name))];
  };

  for (const mode of MODES) {
    for (const display of ['optional', 'fallback', 'swap']) {
      it(`are used when they come late, with font-display: ${display}, in ${mode.name}`, async () => {
        const html = `<!doctype html><style>${face(display)} p { font-family: Brand }</style><p>Invoice</p>`;
        assert.deepEqual(await fontsOf(html, mode), ['LiberationSans-Bold']);
      });
    }

    it(`are used when they come at once, with font-display: optional, in ${mode.name}`, async () => {
      hastens = true;
      const html = `<!doctype html><style>${face('optional')} p { font-family: Brand }</style><p>Invoice</p>`;
      assert.deepEqual(await fontsOf(html, mode), ['LiberationSans-Bold']);
    });

    it(`are used by a style sheet of another origin, with font-display: optional, in ${mode.name}`, async () => {
      const sheet = site.at(`/sheet.css?id=${fetched++}`, 'other');
      const html = `<!doctype html><link rel=stylesheet href="${sheet}"><p style="font-family: Brand">Invoice</p>`;
      assert.deepEqual(await fontsOf(html, mode), ['LiberationSans-Bold']);
    });

    it(`are loaded when only margin boxes are set in them, in ${mode.name}`, async () => {
      const html = `<!doctype html><style>${face('auto')}
        @page { margin: 3cm; @top-left { content: 'Invoice'; font-family: Brand } }</style>`;
      assert.deepEqual(await fontsOf(html, mode), ['LiberationSans-Bold']);
    });
  }

  it('are not loaded when nothing is set in them', async () => {
    const html = `<style>${face('auto')} @page { @top-left { content: 'x'; font-family: serif } }</style><p>Invoice`;
    const { length } = site.requests;
    await render(bench, html);
    assert.equal(site.requests.length, length);
  });

  it('are loaded when only margin boxes are set in them, with font-display: optional after those', async () => {
    const html = `<style>@page { margin: 3cm; @top-left { content: 'Invoice'; font-family: Brand } } ${face('optional')}</style>`;
    for (const mode of MODES) assert.deepEqual(await fontsOf(html, mode), ['LiberationSans-Bold'], mode.name);
  });

  it('are loaded whatever the elements of the document are named', async () => {
    const html = `<style>${face('optional')} p { font-family: Brand }</style><img name=fonts><form name=styleSheets></form><p>x`;
    assert.deepEqual(await fontsOf(html, MODES[0]!), ['LiberationSans-Bold']);
  });

  it('are those of margin boxes by weight, and inherited from the page', async () => {
    const html = `<style>${face('auto')}
      @media print { @page { margin: 3cm; font-family: Brand; @bottom-right { content: counter(page) } } }</style>`;
    assert.deepEqual(await fontsOf(html, MODES[0]!), ['LiberationSans-Bold']);
  });
});
