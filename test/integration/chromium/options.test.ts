import assert from 'node:assert/strict';
import { readPdf } from '../../support/pdf.ts';
import { render, startSite, useBench } from './support.ts';

const MM = 72 / 25.4;

/** What a case in `test/options` cannot hold: sizes that depend on the browser, and which requests have which headers. */
describe('render options in Chromium', () => {
  const bench = useBench();

  it('prints on paper of the size that the standards give it', async () => {
    // ISO 216 in millimetres, ANSI in inches. In the PDF they have three digits after the point.
    const isPaper = (points: number, exact: number) => Math.abs(points - exact) < 0.002;
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

  it('refuses a PDF that is too large', async () => {
    await assert.rejects(render(bench, '<p>x', {}, { maxOutputBytes: 500 }), { code: 'OUTPUT_TOO_LARGE' });
  });

  it('fails for good, with the name of the option, where the browser rejects a value', async () => {
    // No request can have it: the schemas of the options are not asked here.
    await assert.rejects(render(bench, '<p>x', { timezone: 'Nowhere/At_All' }), {
      code: 'RENDER_FAILED',
      permanent: true,
      message: 'options.timezone: the browser rejects it (Invalid timezone id).',
    });
    const { pages } = await readPdf((await render(bench, '<p>x', { timezone: 'UTC' })).bytes);
    assert.equal(pages.length, 1);
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
