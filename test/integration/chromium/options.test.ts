import assert from 'node:assert/strict';
import type { RenderOptions } from '../../../src/options/core/render-options.ts';
import { readPdf, renderPage } from '../../support/pdf.ts';
import { type Bench, render, startBench, startSite } from './support.ts';

const MM = 72 / 25.4;

describe('render options in Chromium', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
  });
  after(() => bench.close());

  const formats = {
    Letter: [612, 792],
    Legal: [612, 1008],
    Tabloid: [792, 1224],
    A3: [842, 1191],
    A4: [595, 842],
    A5: [420, 595],
  } as const;
  for (const [format, [width, height]] of Object.entries(formats)) {
    it(`prints ${format}`, async () => {
      const { bytes: pdf } = await render(bench, '<p>x', { format: format as 'A4' });
      const page = (await readPdf(pdf)).pages[0]!;
      assert.ok(Math.abs(page.width - width) <= 1, `${page.width} wide`);
      assert.ok(Math.abs(page.height - height) <= 1, `${page.height} high`);
    });
  }

  it('prints on paper of the size that the standards give it', async () => {
    // ISO 216 in millimetres, ANSI in inches. Chromium takes the next whole point, and of that whole dots of 1/300 inch.
    const dot = 72 / 300;
    const isPaper = (points: number, exact: number) => Math.abs(points - Math.ceil(exact)) < dot;
    const exact = {
      A3: [297 * MM, 420 * MM],
      A4: [210 * MM, 297 * MM],
      A5: [148 * MM, 210 * MM],
      Letter: [8.5 * 72, 11 * 72],
      Legal: [8.5 * 72, 14 * 72],
      Tabloid: [11 * 72, 17 * 72],
    } as const;
    for (const [format, [width, height]] of Object.entries(exact)) {
      const { bytes: pdf } = await render(bench, '<p>x', { format: format as 'A4' });
      const page = (await readPdf(pdf)).pages[0]!;
      assert.ok(isPaper(page.width, width), `${format}: ${page.width} wide, not ${width}`);
      assert.ok(isPaper(page.height, height), `${format}: ${page.height} high, not ${height}`);
    }
  });

  it('prints A4 without margins and with backgrounds when nothing is asked for', async () => {
    const html = '<body style="margin:0"><div style="background:#f00;width:100%;height:10px"></div>';
    const page = await renderPage((await render(bench, html)).bytes);
    assert.deepEqual(page.at(0, 2), [255, 0, 0]);
    assert.deepEqual(page.at(page.width - 2, 2), [255, 0, 0]);
  });

  it('leaves backgrounds out', async () => {
    const html = '<body style="margin:0"><div style="background:#f00;width:100%;height:100px"></div>';
    const page = await renderPage((await render(bench, html, { printBackground: false })).bytes);
    assert.equal(page.countInk(), 0);
  });

  it('turns the page', async () => {
    const { bytes: pdf } = await render(bench, '<p>x', { landscape: true });
    const { pages } = await readPdf(pdf);
    assert.ok(pages[0]!.width > pages[0]!.height);
  });

  it('keeps each margin free', async () => {
    const html = '<body style="margin:0"><div style="background:#00f;height:3000px"></div>';
    const margin = { top: '10mm', right: '20mm', bottom: '1in', left: '48px' };
    const box = (await renderPage((await render(bench, html, { margin })).bytes)).boxOfInk()!;
    assert.ok(Math.abs(box.top - 10 * MM) < 2, `top ${box.top}`);
    assert.ok(Math.abs(595 - box.right - 20 * MM) < 3, `right ${box.right}`);
    assert.ok(Math.abs(842 - box.bottom - 72) < 3, `bottom ${box.bottom}`);
    assert.ok(Math.abs(box.left - 36) < 2, `left ${box.left}`);
  });

  it('scales', async () => {
    const html = '<body style="margin:0"><div style="background:#00f;width:96px;height:96px"></div>';
    const box = (await renderPage((await render(bench, html, { scale: 2 })).bytes)).boxOfInk()!;
    assert.ok(Math.abs(box.right - 144) < 3, `${box.right}`);
  });

  it('lets the document choose its page size', async () => {
    const html = '<style>@page { size: 50mm 100mm }</style><p>x';
    const own = (await readPdf((await render(bench, html, { preferCSSPageSize: true })).bytes)).pages[0]!;
    assert.ok(Math.abs(own.width - 50 * MM) < 1.5 && Math.abs(own.height - 100 * MM) < 1.5);
    const given = (await readPdf((await render(bench, html, { preferCSSPageSize: false })).bytes)).pages[0]!;
    assert.ok(Math.abs(given.width - 595) < 1.5);
  });

  it('prints header and footer on every page, in room made for them', async () => {
    const html = '<title>Doc title</title><p>one<p style="break-before:page">two';
    const { bytes: pdf, pages } = await render(bench, html, {
      displayHeaderFooter: true,
      headerTemplate: '<span style="font-size:10px" class="title"></span>',
      footerTemplate:
        '<span style="font-size:10px">page <span class="pageNumber"></span> of <span class="totalPages"></span></span>',
    });
    assert.equal(pages, 2);
    const read = await readPdf(pdf);
    for (const [i, page] of read.pages.entries()) {
      assert.match(page.text, /Doc title/);
      assert.match(page.text, new RegExp(`page ${i + 1} of 2`));
    }
  });

  it('prints neither date nor address where a template is missing', async () => {
    const { bytes: pdf } = await render(bench, '<p>body', {
      displayHeaderFooter: true,
      footerTemplate: '<b style="font-size:9px">foot</b>',
    });
    const { text } = await readPdf(pdf);
    assert.equal(text.replace(/\s+/g, ' ').trim(), 'body foot');
  });

  it('waits for a selector, and for no more than that', async () => {
    const html = `<script>setTimeout(() => { document.body.innerHTML = '<p id=late>arrived' }, 300)</script>`;
    const { bytes: pdf } = await render(bench, html, { waitForSelector: '#late' });
    assert.match((await readPdf(pdf)).text, /arrived/);
  });

  it('waits a while after loading', async () => {
    const html = (ms: number) => `<script>setTimeout(() => { document.body.append('late') }, ${ms})</script>`;
    // Far apart: a page or a whole machine may stand still for a moment.
    assert.doesNotMatch((await readPdf((await render(bench, html(8000))).bytes)).text, /late/);
    assert.match((await readPdf((await render(bench, html(400), { delayMs: 2000 })).bytes)).text, /late/);
  });

  it('runs script by default and none when told', async () => {
    const html = '<p id=p>before<noscript>no script</noscript><script>p.textContent = "after"</script>';
    const on = (await readPdf((await render(bench, html)).bytes)).text;
    const off = (await readPdf((await render(bench, html, { javascriptEnabled: false })).bytes)).text;
    assert.match(on, /after/);
    assert.doesNotMatch(on, /no script/);
    assert.match(off, /before/);
    assert.match(off, /no script/);
  });

  it('waits for a selector and delays when script is off', async () => {
    const { bytes: pdf } = await render(bench, '<p class=there>here', {
      javascriptEnabled: false,
      waitForSelector: '.there',
      delayMs: 20,
    });
    assert.match((await readPdf(pdf)).text, /here/);
  });

  it('loads the document under its policy', async () => {
    const html = '<style>p{color:red}</style><p id=p>before<script>p.textContent = "after"</script>';
    const strict = await readPdf((await render(bench, html, { csp: "script-src 'none'" })).bytes);
    assert.match(strict.text, /before/);
    // A directive that is not of ASCII is no directive, and the others count.
    const odd = await readPdf(
      (await render(bench, html, { csp: "é ✓ \ud83d; script-src 'none'; 😀" })).bytes,
    );
    assert.equal(odd.text, strict.text);
    const loose = await readPdf((await render(bench, html, { csp: "script-src 'unsafe-inline'" })).bytes);
    assert.match(loose.text, /after/);
    const page = await renderPage((await render(bench, html, { csp: "style-src 'none'" })).bytes);
    assert.equal(page.countColor([255, 0, 0], 60), 0);
  });

  it('draws a watermark over every page', async () => {
    const html = '<p>one<p style="break-before:page">two';
    const watermark = { text: 'SECRET', opacity: 0.6, rotation: 0, color: '#ff0000' };
    const { bytes: pdf } = await render(bench, html, { watermark });
    const read = await readPdf(pdf);
    assert.equal(read.pages.length, 2);
    for (const page of read.pages) assert.match(page.text, /SECRET/);
    const level = (await renderPage(pdf, 2)).boxOfColor([255, 102, 102], 40)!;
    assert.ok(level.right - level.left > 3 * (level.bottom - level.top), 'text lies level');
    assert.ok(level.left > 20 && level.right < 575, `fits the page: ${JSON.stringify(level)}`);
    const upright = await render(bench, html, { watermark: { ...watermark, rotation: 90 } });
    const box = (await renderPage(upright.bytes, 1)).boxOfColor([255, 102, 102], 40)!;
    assert.ok(box.bottom - box.top > 3 * (box.right - box.left), 'text stands upright');
  });

  it('sets the metadata', async () => {
    const metadata = {
      title: 'T',
      author: 'A',
      subject: 'S',
      creator: 'C',
      producer: 'P',
      keywords: ['k1', 'k2'],
    };
    const read = await readPdf((await render(bench, '<title>Other</title><p>x', { metadata })).bytes);
    assert.equal(read.metadata.title, 'T');
    assert.equal(read.metadata.author, 'A');
    assert.equal(read.metadata.producer, 'P');
    assert.deepEqual(read.metadata.keywords, ['k1', 'k2']);
  });

  it('tags the document when asked', async () => {
    assert.equal((await readPdf((await render(bench, '<h1>x</h1>')).bytes)).tagged, false);
    assert.equal((await readPdf((await render(bench, '<h1>x</h1>', { tagged: true })).bytes)).tagged, true);
  });

  it('prints for the medium that is asked for, and the next document for print again', async () => {
    const still =
      '<style>@media print { i { display: none } } @media screen { b { display: none } }</style><i>screen</i><b>print</b>';
    for (const html of [still, `${still}<script>1</script>`]) {
      const text = async (options: RenderOptions) =>
        (await readPdf((await render(bench, html, options)).bytes)).text.trim();
      assert.equal(await text({ mediaType: 'screen' }), 'screen');
      assert.equal(await text({}), 'print');
      assert.equal(await text({ mediaType: 'print', tagged: true }), 'print');
      assert.equal(await text({ mediaType: 'screen', metadata: { title: 'T' } }), 'screen');
    }
  });

  it('refuses a PDF that is too large', async () => {
    await assert.rejects(render(bench, '<p>x', {}, { maxOutputBytes: 500 }), { code: 'OUTPUT_TOO_LARGE' });
  });

  it('refuses margins that leave no room', async () => {
    await assert.rejects(render(bench, '<p>x', { margin: { left: '200mm', right: '200mm' } }), {
      code: 'RENDER_FAILED',
      permanent: true,
    });
  });

  describe('asset headers', () => {
    it('go to the origins that the markup names, and across no redirect', async () => {
      const site = await startSite((request, response) => {
        if (request.url === '/hop')
          response.writeHead(302, { Location: `http://other.test:${site.port}/landed` }).end();
        else if (request.url === '/stay') response.writeHead(302, { Location: '/stayed' }).end();
        else
          response
            .writeHead(200, { 'Content-Type': 'image/svg+xml', 'Access-Control-Allow-Origin': '*' })
            .end('<svg xmlns="http://www.w3.org/2000/svg"/>');
      });
      try {
        const html = `<img src="${site.at('/named')}"><img src="${site.at('/hop')}"><img src="${site.at('/stay')}">
          <img src="${site.at('/direct', 'other')}"><script>
          document.write('<img src="http://' + 'hid' + 'den.test:${site.port}/unnamed">')</script>`;
        await render(bench, html, { assetHeaders: { 'X-Asset': 'secret' } });
        const sent = (path: string) =>
          site.requests.find((request) => request.path === path)?.headers['x-asset'];
        assert.equal(sent('/named'), 'secret');
        assert.equal(sent('/hop'), 'secret');
        assert.ok(site.requests.some(({ path }) => path === '/landed'));
        assert.equal(sent('/landed'), undefined, 'though its host is named');
        assert.equal(sent('/direct'), 'secret');
        assert.equal(sent('/stayed'), 'secret');
        assert.ok(site.requests.some(({ path }) => path === '/unnamed'));
        assert.equal(sent('/unnamed'), undefined);
      } finally {
        await site.close();
      }
    });

    it('go to the origins that a template names, not to those that its data leads to', async () => {
      const site = await startSite((_request, response) => response.writeHead(404).end());
      try {
        const template = `<img src="${site.at('/written')}"><p>{{ text }}</p><img src="{{ logo }}">`;
        const filled = `<img src="${site.at('/written')}"><p>x</p><img src="${site.at('/filled', 'other')}">`;
        const options = { assetHeaders: { 'X-Asset': 'secret' } };
        await render(bench, { html: filled, template }, options);
        await render(bench, filled.replace('/filled', '/listed'), {
          ...options,
          assetOrigins: [new URL(site.at('/', 'other')).origin],
        });
        const sent = (path: string) =>
          site.requests.filter((request) => request.path === path).map(({ headers }) => headers['x-asset']);
        assert.deepEqual(sent('/written'), ['secret', undefined]);
        assert.deepEqual(sent('/filled'), [undefined]);
        assert.deepEqual(sent('/listed'), ['secret']);
      } finally {
        await site.close();
      }
    });

    it("go to a source URL's origin alone", async () => {
      const site = await startSite((request, response) => {
        if (request.headers['x-key'] !== 'k' && request.url === '/doc') response.writeHead(401).end();
        else if (request.url === '/doc')
          response
            .writeHead(200, { 'Content-Type': 'text/html' })
            .end(`<p>in<img src="/own.svg"><img src="${site.at('/foreign.svg', 'elsewhere')}">`);
        else
          response
            .writeHead(200, { 'Content-Type': 'image/svg+xml' })
            .end('<svg xmlns="http://www.w3.org/2000/svg"/>');
      });
      try {
        const { bytes: pdf } = await render(
          bench,
          { url: site.at('/doc') },
          { assetHeaders: { 'X-Key': 'k' } },
        );
        assert.match((await readPdf(pdf)).text, /in/);
        const sent = (path: string) =>
          site.requests.find((request) => request.path === path)?.headers['x-key'];
        assert.equal(sent('/own.svg'), 'k');
        assert.ok(site.requests.some(({ path }) => path === '/foreign.svg'));
        assert.equal(sent('/foreign.svg'), undefined);
      } finally {
        await site.close();
      }
    });
  });
});
