import assert from 'node:assert/strict';
import type { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import type { ObservationRule } from '../../../src/render/report/observation-rules.ts';
import { readPdf } from '../../support/pdf.ts';
import { readDocuments } from './fixture-documents.ts';
import { failure, render, type Site, startSite, useBench } from './support.ts';

const rows = (count: number) => Array.from({ length: count }, (_, i) => `<p>row${i}.</p>`).join('');
const columns = (count: number) =>
  Array.from({ length: count }, (_, i) => `<th>Column${i}header</th>`).join('');
const growing = (step: string) => `<body><script>
  let i = 0;
  function grow() {
    document.body.append(Object.assign(document.createElement('p'), { textContent: 'row' + ++i }));
    if (i < 3000) ${step};
  }
  grow();
</script>`;

interface Case {
  /** What the observations must say, in this order; none for a document that is as it should be. */
  readonly says: readonly RegExp[];
  readonly html: string;
  readonly options?: RenderOptions;
}

const CASES: Readonly<Partial<Record<ObservationRule, Readonly<Record<string, Case>>>>> = {
  overflow: {
    'a table of twenty columns': {
      html: `<style>body { font: 12px sans-serif }</style><table border=1><tr>${columns(20)}</tr></table>`,
      says: [/^table is wider than the paper: \d+ of its 20 columns are cut off/],
    },
    'a box that is as wide as five papers': {
      html: '<style>body { margin: 0 }</style><main><div id=wide style="width: 3970px">x</div></main>',
      says: [/^#wide is wider than the paper: 490 mm of it are cut off/],
    },
    'a page that hides what is too wide': {
      html: '<style>html { overflow-x: hidden } body { margin: 0 }</style><div class="banner" style="width: 1500px">x</div>',
      says: [/^div\.banner is wider than the paper: 54 mm/],
    },
    'a table that fits': { html: `<table border=1><tr>${columns(5)}</tr></table>`, says: [] },
    'a box that cuts off what is in it': {
      html: '<div style="width: 300px; overflow: hidden"><div style="width: 3000px">x</div></div>',
      says: [],
    },
  },
  shrunk: {
    'a part that is a little too wide': {
      html: '<style>body { margin: 0 }</style><p>x</p><div style="width: 900px; height: 5px; background: red"></div>',
      says: [/printed all of it at 88\.3 % of its size: 100 mm are 88\.3 mm/],
    },
    'one at a scale of its own': {
      html: '<style>body { margin: 0 }</style><div style="width: 1500px; height: 5px; background: red">x</div>',
      options: { scale: 0.6 },
      says: [/printed all of it at 88\.\d % of its size/],
    },
    'one between margins': {
      html: '<style>body { margin: 0 }</style><div style="width: 750px; height: 5px; background: red">x</div>',
      options: { margin: { left: '20mm', right: '20mm' } },
      says: [/printed all of it at 86\.\d % of its size/],
    },
    'a scale that was asked for': { html: '<p>x</p>', options: { scale: 0.5 }, says: [] },
  },
  hidden: {
    'a list that scrolls': {
      html: `<div style="height: 200px; overflow: auto">${rows(60)}</div>`,
      says: [/^div scrolls, which paper does not: 5\d of its 60 parts are hidden/],
    },
    'an application as high as its window': {
      html: `<style>body { margin: 0 }</style><div class=app style="height: 100vh; overflow-y: scroll">${rows(80)}</div>`,
      says: [/^div\.app scrolls, which paper does not: \d+ of its 80 parts/],
    },
    'a table that scrolls': {
      html: `<div id=grid style="height: 100px; overflow: auto"><table><tbody>${'<tr><td>x</td></tr>'.repeat(30)}</tbody></table></div>`,
      says: [/^#grid scrolls, which paper does not: \d+ of its 30 parts/],
    },
    'one that paper does not hide': {
      html: `<style>div { height: 200px; overflow: auto } @media print { div { height: auto; overflow: visible } }</style><div>${rows(60)}</div>`,
      says: [],
    },
    'one with room for everything': {
      html: `<div style="height: 900px; overflow: auto">${rows(5)}</div>`,
      says: [],
    },
  },
  covered: {
    'a bar that is fixed at the top': {
      html: `<header style="position: fixed; top: 0; left: 0; right: 0; height: 60px; background: #eee">Bar</header>${rows(100)}`,
      says: [/^header is fixed and covers 60 px of the document at the top of every page/],
    },
    'a bar at the bottom': {
      html: `<footer style="position: fixed; bottom: 0; left: 0; width: 100%; height: 40px; background: #eee">Bar</footer>${rows(100)}`,
      says: [/^footer is fixed and covers 40 px of the document at the bottom/],
    },
    'a bar of a document of one page': {
      html: '<header style="position: fixed; top: 0; left: 0; right: 0; height: 60px; background: #eee">Bar</header><p>x',
      says: [],
    },
    'a bar for whose place a table keeps room': {
      html: `<header style="position: fixed; top: 0; left: 0; right: 0; height: 60px; background: #eee">Bar</header>
        <table><thead><tr><td style="height: 60px"></td></tr></thead><tbody><tr><td>${rows(100)}</td></tr></tbody></table>`,
      says: [],
    },
  },
  rasterised: {
    'text in grey': {
      html: '<p style="filter: grayscale(1)">Invoice</p>',
      says: [/^p has a filter \(grayscale\(1\)\), which turns 7 characters into a picture/],
    },
    'a picture in grey': {
      html: '<img style="filter: grayscale(1)" src="data:image/gif;base64,R0lGODlhAQABAIAAAAD/AP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==">x',
      says: [],
    },
  },
  blank: {
    'a body that is hidden': {
      html: '<body style="display: none"><p>Invoice</p>',
      says: [/^the PDF is blank/],
    },
    'an element that no script has filled': { html: '<div id=app></div>', says: [/^the PDF is blank/] },
    'a title that is never closed': { html: '<title>Invoice<p>Total 5</p>', says: [/^the PDF is blank/] },
    'white on white': {
      html: '<div style="background: #fff; height: 50px"></div>',
      says: [/^the PDF is blank/],
    },
    'a last page': {
      html: '<p>x</p><div style="break-before: page; height: 10px"></div>',
      says: [/^1 of 2 pages are blank \(2\)/],
    },
    'a coloured page': { html: '<body style="background: #eee">', says: [] },
    'a drawing': {
      html: '<canvas></canvas><script>document.querySelector("canvas").getContext("2d").fillRect(0, 0, 9, 9)</script>',
      says: [],
    },
  },
  undecodable: {
    'data that is no picture': {
      html: '<img class=logo alt=d src="data:image/png;base64,@@@@">x',
      says: [/^the picture img\.logo \(data:image\/png.*\) arrived and cannot be shown/],
    },
    'a picture': {
      html: '<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAD/AP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==">x',
      says: [],
    },
    'a drawing without a size': {
      html: `<img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><rect width='9' height='9'/></svg>">x`,
      says: [],
    },
  },
  embedded: {
    'a PDF': {
      html: '<embed src="data:application/pdf;base64,JVBERi0=" type="application/pdf" width=300 height=300>x',
      says: [/^embed embeds a document \(data:application\/pdf.*\) that is not printed/],
    },
    'a drawing': {
      html: `<object data="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>" type="image/svg+xml"></object>x`,
      says: [],
    },
  },
  stillChanging: {
    'in animation frames': { html: growing('requestAnimationFrame(grow)'), says: [/still changing/] },
    'by timers': { html: growing('setTimeout(grow, 2)'), says: [/still changing/] },
    'no more': { html: '<script>document.write("x"); setTimeout(() => 1, 10)</script>', says: [] },
    'only for paper': {
      html: '<p>x</p><script>addEventListener("beforeprint", () => document.body.append("printed"))</script>',
      says: [],
    },
  },
  deadLink: {
    'to a part that is not there': {
      html: '<a class=toc href="#annex">Annex</a><h1 id=one>One</h1>',
      says: [/^the link a\.toc leads to #annex, which is not in the document/],
    },
    'to parts that are there': {
      html: '<a href="#one">1</a> <a href="#zwei%20drei">2</a> <a href="#old">3</a> <a href="#">4</a> <a href="#top">5</a><h1 id=one>One</h1><p id="zwei drei">x<a name=old>y</a>',
      says: [],
    },
  },
  pageRules: {
    'a size that is not used': {
      html: '<style>@page { size: 210mm 99mm }</style><p>Voucher</p>',
      says: [/^the @page rule has the size 210mm 99mm, which is not used without preferCSSPageSize/],
    },
    'a margin that is used instead': {
      html: '<style>@page { margin: 30mm }</style><p>x</p>',
      options: { margin: { left: '10mm' } },
      says: [/^the @page rule has a margin \(30mm\), which is used instead/],
    },
    'a size that is used': {
      html: '<style>@page { size: 210mm 99mm; margin: 5mm }</style><p>Voucher</p>',
      options: { preferCSSPageSize: true },
      says: [],
    },
    'rules of another medium': {
      html: '<style>@media screen { @page { size: 10mm 10mm } }</style><p>x</p>',
      says: [],
    },
  },
  unsupportedCss: Object.fromEntries(
    Object.entries({
      'float: footnote': '.n { float: footnote }',
      'position: running()': '.n { position: running(head) }',
      'string-set': 'h1 { string-set: title content() }',
      'target-counter()': 'a::after { content: target-counter(attr(href), page) }',
      'leader()': 'a::after { content: leader(".") }',
      'break-before: recto': 'h1 { break-before: recto }',
      bleed: '@page { bleed: 3mm }',
      '@page :nth()': '@page :nth(2n) { margin: 0 }',
    })
      .map(([name, css]): [string, Case] => [
        name,
        {
          html: `<style>/* leader( is no fault in a comment */ ${css}</style><p>x</p>`,
          says: [new RegExp(`^a style sheet uses ${name.replace(/[()]/g, '\\$&')}, which`)],
        },
      ])
      .concat([
        [
          'nothing',
          {
            html: '<style>p { float: left; break-before: page } /* float: footnote */</style><p>x',
            says: [],
          },
        ],
      ]),
  ),
};

describe('a look at a printed document', () => {
  const bench = useBench({ browsers: 1 });

  const observed = async (document: string | { url: string }, options: RenderOptions = {}) => {
    const { findings } = await render(bench, document, { ...options, report: true });
    return findings!.observations;
  };

  for (const [rule, cases] of Object.entries(CASES)) {
    for (const [name, { html, options, says }] of Object.entries(cases)) {
      it(`${says.length > 0 ? 'finds' : 'has nothing to say of'} ${rule}: ${name}`, async () => {
        const found = await observed(`<!doctype html>${html}`, options);
        const messages = found.filter((each) => each.rule === rule).map(({ message }) => message);
        assert.equal(messages.length, says.length, JSON.stringify(found));
        for (const [i, pattern] of says.entries()) assert.match(messages[i]!, pattern);
      });
    }
  }

  for (const [name, html] of readDocuments()) {
    it(`has nothing to say of a document that looks right: ${name}`, async () => {
      assert.deepEqual(await observed(html, { preferCSSPageSize: true }), []);
    });
  }

  it('is made for a rule alone, too, and fails the render by it', async () => {
    const html = '<!doctype html><p>x</p><div style="width: 900px; height: 5px"></div>';
    const { code, message } = await failure(render(bench, html, { failOn: { shrunk: true } }));
    assert.equal(code, 'DOCUMENT_FAULT');
    assert.match(message, /failOn\.shrunk: .*87/);
    await render(bench, html, { failOn: { shrunk: false, overflow: true, blank: true, hidden: true } });
  });

  it('is bounded, whatever there is to see, and says what it has not seen', async () => {
    const links = '<a href="#nowhere">x</a> '.repeat(3000);
    const { findings } = await render(bench, `<!doctype html>${links}${'<i></i>'.repeat(30_000)}`, {
      report: true,
    });
    const dead = findings!.observations.filter(({ rule }) => rule === 'deadLink');
    // On a busy machine the time may be over before the links were looked at.
    assert.ok(dead.length <= 6, `${dead.length} observations`);
    if (dead.length === 6) assert.match(dead[5]!.message, /^\d+ more like: /);
    assert.ok(findings!.truncated.has('observations'));
  });

  it('shows no text of the document beyond its length, and survives names that shadow methods', async () => {
    const name = 'x'.repeat(10_000);
    const found = await observed(
      `<!doctype html><form><input name=querySelectorAll><input name=getBoundingClientRect></form><img name=styleSheets>
        <a class="${name}" href="#${name}">x</a>`,
    );
    const dead = found.filter(({ rule }) => rule === 'deadLink');
    assert.equal(dead.length, 1);
    assert.ok(JSON.stringify(dead).length < 1500);
  });

  describe('at addresses', () => {
    let site: Site;
    before(async () => {
      site = await startSite((request, response) => {
        const path = request.url!;
        if (path === '/invoice') response.writeHead(302, { Location: '/login' }).end();
        else if (path === '/folder') response.writeHead(301, { Location: '/folder/' }).end();
        else if (path === '/error')
          response.writeHead(404, { 'Content-Type': 'text/html' }).end('<p>not here</p>');
        else if (path === '/latin')
          response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Grüße, 5 €</p>');
        else if (path === '/photo.heic')
          response.writeHead(200, { 'Content-Type': 'image/heic' }).end('ftypheic');
        else if (path === '/font.woff2')
          response
            .writeHead(200, { 'Content-Type': 'font/woff2', 'Access-Control-Allow-Origin': '*' })
            .end('<html>');
        else response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end('<p>Grüße</p>');
      });
    });
    after(() => site.close());

    const rules = async (path: string) =>
      (await observed({ url: site.at(path) })).map(({ rule, message }) => `${rule}: ${message}`);

    it('finds a source URL that led to another page', async () => {
      const [found, ...others] = await rules('/invoice');
      assert.match(
        found!,
        /^redirect: the source URL .*\/invoice led to .*\/login, which was printed instead/,
      );
      assert.deepEqual(others, []);
      assert.deepEqual(await rules('/folder'), []);
    });

    it('says nothing of what the requests say already', async () => {
      const lost = `<!doctype html><style>@font-face { font-family: Own; src: url(${site.at('/error')}) } p { font-family: Own }</style>
        <p>x</p><img src="${site.at('/error')}"><img src="relative.png">`;
      assert.deepEqual(await observed(lost), []);
    });

    it('prints an error page where no status fails the render', async () => {
      const { code } = await failure(render(bench, { url: site.at('/error') }));
      assert.equal(code, 'URL_UNREACHABLE');
      const { bytes } = await render(bench, { url: site.at('/error') }, { failOn: { pageStatus: [] } });
      assert.match((await readPdf(bytes)).pages[0]!.text, /not here/);
    });

    it('finds text that was read in the wrong encoding', async () => {
      const [found] = await rules('/latin');
      assert.match(found!, /^garbled: the page names no encoding and was read as windows-1252/);
      assert.deepEqual(await rules('/'), []);
    });

    it('finds pictures that cannot be decoded and fonts that are none', async () => {
      const found = await observed(
        `<!doctype html><style>@font-face { font-family: Own; src: url(${site.at('/font.woff2')}) } p { font-family: Own }</style>
          <p>x</p><img src="${site.at('/photo.heic')}">`,
      );
      const messages = found.filter(({ rule }) => rule === 'undecodable').map(({ message }) => message);
      assert.equal(messages.length, 2, JSON.stringify(found));
      assert.match(messages[0]!, /photo\.heic/);
      assert.match(messages[1]!, /web font "?Own"? could not be used/);
      const { code } = (await failure(
        render(bench, `<img src="${site.at('/photo.heic')}">`, { failOn: { undecodable: true } }),
      )) as unknown as PlatenError;
      assert.equal(code, 'DOCUMENT_FAULT');
      const broken = render(bench, `<img src="${site.at('/photo.heic')}">`, {
        failOn: { assetUnreachable: true },
      });
      assert.equal((await failure(broken)).code, 'ASSET_FAILED');
    });
  });
});
