import assert from 'node:assert/strict';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { warningsOf } from '../../../src/render/report/warnings.ts';
import { type Bench, failure, render, type Site, startBench, startSite } from './support.ts';

const rows = (count: number) => Array.from({ length: count }, (_, i) => `<p>row${i}.</p>`).join('');
const columns = (count: number) =>
  `<table><tr>${Array.from({ length: count }, (_, i) => `<th>Column${i}header</th>`).join('')}</tr></table>`;
const header = {
  displayHeaderFooter: true,
  headerTemplate: '<p style="font-size: 9px">Head</p>',
  margin: { top: '20mm' },
};
const bar = (style: string, text = 'Bar') =>
  `<nav style="position: fixed; background: #eee; ${style}">${text}</nav>`;

/** By a name: markup, what its observations begin with, in this order, and options. */
const CASES: Readonly<
  Record<string, readonly [html: string, says: readonly RegExp[], options?: RenderOptions]>
> = {
  'a line that is not broken': [
    `<pre>${'x'.repeat(400)}</pre>`,
    [/^the document is wider/, /^pre is wider than the paper: \d+ mm .* right edge/],
  ],
  'a part that is too wide from right to left': [
    '<html dir=rtl><div style="width: 1500px">x</div>',
    [/^div is wider than the paper: \d+ mm .* left edge/],
  ],
  'a root and a body that hide what is too wide': [
    `<style>html, body { overflow-x: hidden }</style>${columns(16)}`,
    [/^table is wider than the paper: \d+ of its 16 columns/],
  ],
  'what is cut where nothing is shrunk': [
    '<div style="width: 400mm">x</div>',
    [/^div is wider than the paper: 19\d mm/],
    { shrinkToFit: false },
  ],
  'what fits where nothing is shrunk': ['<div style="width: 100mm">x</div>', [], { shrinkToFit: false }],
  'a table in a box that hides what is too wide': [
    `<div style="overflow: hidden">${columns(16)}</div>`,
    [/^div cuts off what is larger than it: \d+ of its 16 parts/],
  ],
  'an application that hides what is too long': [
    `<style>html, body { height: 100%; overflow: hidden }</style><main>${rows(80)}</main>`,
    [/^body cuts off what is larger than it: \d+ of its 80 parts/],
  ],
  'a field with more lines than it shows': [
    `<textarea rows=3>${'line\n'.repeat(30)}</textarea>`,
    [/^textarea scrolls, which paper does not: \d+ px of its height/],
  ],
  'texts that are cut on purpose': [
    `<p style="white-space: nowrap; overflow: hidden; text-overflow: ellipsis; width: 100px">${'word '.repeat(40)}</p>
      <p style="display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; width: 100px">${'word '.repeat(40)}</p>
      <p style="position: absolute; width: 1px; height: 1px; overflow: hidden">Skip to the content</p>`,
    [],
  ],
  'a bar at the side': [
    bar('left: 0; top: 0; bottom: 0; width: 120px') + rows(100),
    [/^nav is fixed and covers 120 px of the width of every page/],
  ],
  'a bar at the side that has its place': [
    `${bar('left: 0; top: 0; bottom: 0; width: 120px')}<main style="margin-left: 130px">${rows(100)}</main>`,
    [],
  ],
  'a bar in the margin': [
    `<style>@page { margin: 30mm 15mm }</style>${bar('bottom: -20mm; height: 15mm; width: 100%')}${rows(100)}`,
    [],
  ],
  'a watermark, and a colour behind the text': [
    `<p style="position: fixed; top: 40%; width: 100%; text-align: center; color: #0002">Copy</p>
      ${bar('inset: 0; z-index: -1', '')}${rows(100)}`,
    [],
  ],
  'an empty document with a header': ['<div id=app></div>', [/^the PDF is blank/], header],
  'a document with a header': ['<div id=app>x</div>', [], header],
  'a coloured document with a header': ['<html style="background: red"><i></i>', [], header],
  'a picture of a style sheet that is none': [
    '<p style="background-image: url(data:image/png;base64,AAAA)">x</p><input type=image src="data:image/png;base64,BBBB">',
    [/^the picture p \(data:.* cannot be shown/, /^the picture input \(data:/],
  ],
  'a picture of a style sheet': [
    `<p style="background-image: url(data:image/gif;base64,R0lGODlhAQABAIAAAAD/AP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==)">x`,
    [],
  ],
  'text that was garbled before': ['<p>MÃ¼ller &amp; SÃ¶hne</p>', [/^the text is garbled: it was UTF-8/]],
  'replacement characters': ['<p>M\ufffdller</p>', [/^the text has replacement characters/]],
  'texts of several languages': ['<p>«CAFÉ» déjà vu, “Größe” – € Ångström Привет</p>', []],
  'a page size that is the paper': [
    '<style>@page { size: A4; margin: 20mm }</style><p>x',
    [],
    { format: 'A4', margin: { top: '20mm', left: '2cm' } },
  ],
  'an orientation, which is used': ['<style>@page { size: landscape }</style><p>x', []],
  'the size of a named page': [
    '<style>@page wide { size: A3 } div { page: wide }</style><p>x<div>y</div>',
    [/^the @page rule has the size a3, which is not used/],
  ],
  'CSS of an attribute': [
    '<p>x<span style="float: footnote">note</span>',
    [/^a style sheet uses float: footnote/],
  ],
  'CSS of the options': ['<p>x', [/^a style sheet uses string-set/], { styles: ['h1 { string-set: a b }'] }],
  'a dead link of a map': ['<map><area href="#gone"></map>x', [/^the link map > area leads to #gone/]],
  'a text that counts up': [
    '<p id=sum>0</p><script>let i = 1000; setInterval(() => { sum.textContent = i++ }, 20)</script>',
    [/^scripts were still changing/],
  ],
  'a script that resizes what it observes': [
    '<p id=a>x</p><script>new ResizeObserver(() => { if (a.offsetHeight < 90) a.style.height = a.offsetHeight + 1 + "px" }).observe(a)</script>',
    [],
    { failOn: { exception: true } },
  ],
};

describe('a look at a printed document, by its markup', () => {
  let bench: Bench;
  let site: Site;
  before(async () => {
    bench = await startBench({ browsers: 1 });
    site = await startSite((request, response) => {
      const path = request.url!;
      if (path === '/hangs') return;
      const bodies: Readonly<Record<string, string>> = {
        '/refresh': '<meta http-equiv=refresh content="0; url=/login">',
        '/script': '<p>x</p><script>location.replace("/login")</script>',
        '/router': '<p>x</p><script>history.pushState(0, "", "/login")</script>',
        '/cyrillic': '<p>Привет, это страница</p>',
        '/links': '<meta charset=utf-8><a href="/links#here">1</a><a href="/other#there">2</a>',
      };
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(bodies[path] ?? '<p>Sign in</p>');
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  const observed = async (document: string | { url: string }, options: RenderOptions = {}) => {
    const { findings } = await render(bench, document, { ...options, report: true });
    return findings!.observations.map(({ message }) => message);
  };

  for (const [name, [html, says, options]] of Object.entries(CASES)) {
    it(`${says.length > 0 ? 'finds' : 'has nothing to say of'} ${name}`, async () => {
      const found = await observed(`<!doctype html>${html}`, options);
      assert.equal(found.length, says.length, JSON.stringify(found));
      for (const [i, pattern] of says.entries()) assert.match(found[i]!, pattern);
    });
  }

  for (const path of ['/refresh', '/script', '/router']) {
    it(`finds a page that leads to another by itself: ${path}`, async () => {
      const [found, ...others] = await observed({ url: site.at(path) });
      assert.match(found!, /^the source URL .* led to .*\/login, which was printed instead/);
      assert.deepEqual(others, []);
      const { code } = await failure(render(bench, { url: site.at(path) }, { failOn: { redirect: true } }));
      assert.equal(code, 'DOCUMENT_FAULT');
    });
  }

  it('finds text in the wrong encoding in any language, and dead links by address', async () => {
    assert.match((await observed({ url: site.at('/cyrillic') }))[0]!, /was read as .* garbles its text/);
    const found = await observed({ url: site.at('/links') });
    assert.equal(found.length, 1, JSON.stringify(found));
    assert.match(found[0]!, /leads to #here/);
  });

  it('names what had not arrived when a wait was given up', async () => {
    const html = `<p>x</p><img src="${site.at('/hangs')}">`;
    const { findings } = await render(bench, html, { report: true, bestEffort: true }, { timeoutMs: 8000 });
    const warnings = warningsOf(findings!);
    assert.ok(warnings.some((text) => /^hangs had not arrived after \d+ ms, when the wait/.test(text)));
    assert.deepEqual(findings!.observations, []);
  });

  it('says that it gave up to wait for a script that draws without end', async () => {
    const html =
      '<p id=a>x</p><script>(function draw() { a.style.left = 0; requestAnimationFrame(draw) })()</script>';
    const { findings } = await render(bench, html, { report: true });
    assert.equal(findings!.waits.find(({ name }) => name === 'drawn')?.outcome, 'given up');
  });
});
