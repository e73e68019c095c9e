import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import type { Findings } from '../../../src/render/report/findings.ts';
import { warningsOf } from '../../../src/render/report/warnings.ts';
import { type Bench, failure, render, type Site, startBench, startSite } from './support.ts';

const rows = (count: number) => Array.from({ length: count }, (_, i) => `<p>row${i}.</p>`).join('');
const frame = (html: string, attributes = 'width=400 height=300') =>
  `<iframe id=inner ${attributes} srcdoc="${html.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
const shadow = (html: string, tag = 'my-card') =>
  `<${tag}><template shadowrootmode="open">${html}</template></${tag}>`;
const BROKEN = '<img class=logo src="data:image/png;base64,@@@@">';
const LIST = `<div class=list style="height: 100px; overflow: auto">${rows(40)}</div>`;
const DEAD = '<a class=toc href="#nowhere">x</a>';

const fontOf = (name: string) => {
  const file = fileURLToPath(import.meta.resolve(`pdfjs-dist/standard_fonts/LiberationSans-${name}.ttf`));
  return `url(data:font/ttf;base64,${readFileSync(file).toString('base64')})`;
};
const face = (name: string, descriptors = '') =>
  `@font-face { font-family: "Own Sans"; src: ${fontOf(name)}; ${descriptors} }`;
const own = (faces: string, body: string) =>
  `<style>${faces} body { font-family: "Own Sans", serif }</style>${body}`;
const REGULAR = face('Regular');
const BOLD = face('Bold', 'font-weight: 700');
const ITALIC = face('Italic', 'font-style: italic');

/** Pictures that arrive and cannot be shown, by their path: their type, and what is sent. */
const PICTURES: Readonly<Record<string, readonly [type: string, data: string]>> = {
  '/scan.tiff': ['image/tiff', 'II*\0\b\0\0\0\0\0'],
  '/empty.png': ['image/png', ''],
  '/logo.svg': ['text/plain', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
  '/cut.gif': ['image/gif', 'GIF89a'],
};

/** By what is in a document: what its observations must say, each with its rule, in any order. */
const CASES: Readonly<Record<string, readonly [html: string, ...says: RegExp[]]>> = {
  'a picture in a frame': [
    `x${frame(BROKEN)}`,
    /^undecodable: the picture #inner >>> img\.logo \(data:image.*\) arrived and cannot be shown/,
  ],
  'a picture in a shadow tree': [shadow(`x${BROKEN}`), /^undecodable: the picture my-card >>> img\.logo/],
  'a picture in a shadow tree in a frame': [
    `x${frame(shadow(`x${BROKEN}`))}`,
    /^undecodable: the picture #inner >>> my-card >>> img\.logo/,
  ],
  'a list that scrolls in a shadow tree': [
    shadow(LIST),
    /^hidden: my-card >>> div\.list scrolls, which paper does not: 3\d of its 40 parts/,
  ],
  'a list that scrolls in a frame': [
    `x${frame(LIST)}`,
    /^hidden: #inner >>> div\.list scrolls, which paper does not: 3\d of its 40 parts/,
  ],
  'a list that scrolls in two shadow trees': [
    shadow(shadow(LIST, 'my-list')),
    /^hidden: my-card >>> my-list >>> div\.list scrolls/,
  ],
  'a frame that is smaller than its document': [
    `x${frame(rows(40))}`,
    /^hidden: #inner is smaller than the document in it, and paper does not scroll: \d+ px of its height are hidden/,
  ],
  'a link in a frame': [
    `<p id=nowhere>x</p>${frame(DEAD)}`,
    /^deadLink: the link #inner >>> a\.toc leads to #nowhere/,
  ],
  'a link in a shadow tree': [shadow(DEAD), /^deadLink: the link my-card >>> a\.toc leads to #nowhere/],
  'links in a frame in a frame': [
    `x${frame(frame(DEAD, 'width=200 height=100'))}`,
    /^deadLink: the link #inner >>> #inner >>> a\.toc leads to #nowhere/,
  ],
  'CSS in a shadow tree': [
    shadow('<style>.n { float: footnote }</style><p>x</p>'),
    /^unsupportedCss: a style sheet uses float: footnote/,
  ],
  'something too wide in a shadow tree': [
    `<style>body { margin: 0 }</style>${shadow('<div class=wide style="width: 3970px">x</div>')}`,
    /^overflow: my-card.* is wider than the paper/,
    /^shrunk: /,
  ],
  'frames and shadow trees that are right': [
    `<p id=top-part>x</p>${frame('<a href="#a">x</a><p id=a>y</p><div style="overflow: auto">z</div>')}
      ${shadow('<a href="#top-part">x</a><a href="#b">y</a><p id=b>z</p>')}
      ${frame(rows(40), 'width=300 height=100 scrolling=no')}${frame(rows(40), 'width=0 height=0 style="display: none"')}`,
  ],
  'a frame of another origin': [`x${frame(`${BROKEN}${rows(40)}`, 'width=300 height=100 sandbox')}`],

  'bold text without a bold face': [
    own(REGULAR, '<p>x <b class=sum>Total</b></p>'),
    /^fontSynthesis: p > b\.sum has bold text, and the web font Own Sans has no bold face, so the browser smears the one that there is; load the face by @font-face with font-weight: 700/,
  ],
  'a heading without a bold face': [
    own(REGULAR, '<h1>Title</h1><p>x</p>'),
    /^fontSynthesis: h1 has bold text/,
  ],
  'italic text without an italic face': [
    own(REGULAR + BOLD, '<p>x <em>very</em></p>'),
    /^fontSynthesis: (p > )?em has italic text, and the web font Own Sans has no italic face, so the browser slants the one/,
  ],
  'bold and italic text in a shadow tree': [
    own(REGULAR, shadow('<b><i>x</i></b>')),
    /^fontSynthesis: my-card >>> .*i has bold text/,
    /^fontSynthesis: my-card >>> .*i has italic text/,
  ],
  'faces for all text': [own(REGULAR + BOLD + ITALIC, '<h1>Title</h1><p>x <b>y</b> <i>z</i></p>')],
  'one face for all weights': [own(face('Regular', 'font-weight: 100 900'), '<h1>Title</h1>')],
  'text that may not be smeared': [own(REGULAR, '<h1 style="font-synthesis: none">Title</h1><p>x</p>')],
  'a font that is not used, and one of the system': [
    own(REGULAR, '<p>x</p><h1 style="font-family: sans-serif">Title</h1><b></b>'),
  ],
};

describe('a look into frames, shadow trees, linked style sheets and fonts', () => {
  let bench: Bench;
  let site: Site;
  before(async () => {
    bench = await startBench({ browsers: 1 });
    const css = '/* leader( is a comment */ .n { float: footnote } h1 { string-set: title content() }';
    site = await startSite((request, response) => {
      const path = request.url!;
      const headers = {
        'Access-Control-Allow-Origin': '*',
        'Cache-Control': path === '/kept.css' ? 'max-age=60' : 'no-store',
      };
      if (path === '/import.css')
        response.writeHead(200, { ...headers, 'Content-Type': 'text/css' }).end('@import "print.css";');
      else if (path === '/plain.css')
        response.writeHead(200, { ...headers, 'Content-Type': 'text/css' }).end('p { float: left }');
      else if (path === '/large.css')
        response
          .writeHead(200, { ...headers, 'Content-Type': 'text/css' })
          .end(`p { color: red }${' '.repeat(600_000)} .n { float: footnote }`);
      // Never answered.
      else if (path === '/pixel.gif') return;
      else if (path in PICTURES)
        response.writeHead(200, { ...headers, 'Content-Type': PICTURES[path]![0] }).end(PICTURES[path]![1]);
      else if (path.endsWith('.css'))
        response.writeHead(200, { ...headers, 'Content-Type': 'text/css' }).end(css);
      else
        response
          .writeHead(200, { ...headers, 'Content-Type': 'text/html; charset=utf-8' })
          .end('<link rel=stylesheet href=print.css><p>x</p>');
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  const observed = async (document: string | { url: string }, options: RenderOptions = {}) => {
    const { findings } = await render(bench, document, { ...options, report: true });
    const messages = findings!.observations.map(({ rule, message }) => `${rule}: ${message}`);
    return { messages, findings: findings! };
  };
  const link = (path: string, name?: string) => `<link rel=stylesheet href="${site.at(path, name)}">`;

  for (const [name, [html, ...says]] of Object.entries(CASES))
    it(`${says.length > 0 ? 'finds' : 'has nothing to say of'} ${name}`, async () => {
      const { messages } = await observed(`<!doctype html>${html}`);
      assert.equal(messages.length, says.length, messages.join('\n'));
      for (const pattern of says)
        assert.ok(
          messages.some((each) => pattern.test(each)),
          messages.join('\n'),
        );
    });

  it('finds what linked style sheets use, however they are linked and cached', async () => {
    for (const path of ['/print.css', '/kept.css', '/import.css']) {
      const { messages, findings } = await observed(`<!doctype html>${link(path)}<h1>x</h1>`);
      const name = path === '/import.css' ? 'print.css' : path.slice(1);
      assert.deepEqual(
        messages.map((each) => each.replace(/, which.*/, '')),
        ['float: footnote', 'string-set'].map(
          (what) => `unsupportedCss: the style sheet ${name} uses ${what}`,
        ),
      );
      assert.ok(!findings.truncated.has('observations'));
    }
    const imported = await observed(
      `<!doctype html><style>@import url(${site.at('/print.css')});</style><h1>x</h1>`,
    );
    assert.equal(imported.messages.length, 2, imported.messages.join('\n'));
    const page = await observed({ url: site.at('/page') });
    assert.equal(page.messages.length, 2, page.messages.join('\n'));
    assert.deepEqual((await observed(`<!doctype html>${link('/plain.css')}<p>x</p>`)).messages, []);
  });

  it('finds pictures that arrive and cannot be shown, and fails the render as if they had not', async () => {
    const html = Object.keys(PICTURES)
      .map((path) => `<img src="${site.at(path)}">`)
      .join('');
    const { messages } = await observed(`<!doctype html>${html}`);
    assert.equal(messages.length, 4, messages.join('\n'));
    for (const path of Object.keys(PICTURES))
      assert.ok(
        messages.some((each) => each.startsWith('undecodable: ') && each.includes(path.slice(1))),
        path,
      );
    const { code } = await failure(render(bench, html, { failOn: { assetUnreachable: true } }));
    assert.equal(code, 'ASSET_FAILED');
  });

  it('names what a render has waited for in vain', async () => {
    const html = `<p>x</p><img src="${site.at('/pixel.gif')}">`;
    let failed: Findings | undefined;
    const settings = {
      timeoutMs: 4000,
      onFailed: (_: unknown, findings?: Findings) => {
        failed = findings;
      },
    };
    const { code } = await failure(render(bench, html, { report: true }, settings));
    assert.equal(code, 'RENDER_TIMEOUT');
    assert.ok(
      warningsOf(failed!).some((warning) =>
        /^pixel\.gif had not arrived when the render ended/.test(warning),
      ),
      warningsOf(failed!).join('\n'),
    );
    const best = await render(
      bench,
      html,
      { report: true, bestEffort: true, timeoutMs: 6000 },
      { timeoutMs: 20_000 },
    );
    assert.ok(warningsOf(best.findings!).some((warning) => warning.includes('pixel.gif')));
  });

  it('asks no server for a style sheet once more', async () => {
    const before = site.requests.length;
    await observed(`<!doctype html>${link('/print.css', 'once')}<h1>x</h1>`);
    assert.equal(site.requests.length - before, 1);
    const rule = { failOn: { unsupportedCss: true } };
    const { code } = await failure(
      render(bench, `<!doctype html>${link('/print.css', 'rule')}<h1>x</h1>`, rule),
    );
    assert.equal(code, 'DOCUMENT_FAULT');
    assert.equal(site.requests.length - before, 2);
  });

  it('says that it has not looked at a style sheet that is too large', async () => {
    const { messages, findings } = await observed(`<!doctype html>${link('/large.css')}<p>x</p>`);
    assert.deepEqual(messages, []);
    assert.ok(findings.truncated.has('observations'));
  });

  it('fails the render by what a linked style sheet uses, and by a font', async () => {
    for (const [html, failOn] of [
      [`${link('/print.css')}<h1>x</h1>`, { unsupportedCss: true }],
      [own(REGULAR, '<h1>x</h1>'), { fontSynthesis: true }],
      [`x${frame(DEAD)}`, { deadLink: true }],
    ] as const)
      assert.equal(
        (await failure(render(bench, `<!doctype html>${html}`, { failOn }))).code,
        'DOCUMENT_FAULT',
      );
  });

  it('tells what a frame asks for by a relative address', async () => {
    const { findings } = await observed(`<!doctype html>x${frame('<img src="logo.png">')}`);
    assert.deepEqual(
      findings.requests.entries.map(({ url }) => url),
      ['logo.png'],
    );
  });

  it('names a character that no font has in a frame or a shadow tree', async () => {
    for (const html of [frame('\u{10380}'), shadow('\u{10380}'), frame(shadow('\u{10380}'))]) {
      const { findings } = await observed(`<!doctype html><meta charset=utf-8>x${html}`);
      assert.deepEqual(
        findings.missingGlyphs.map(({ codePoint }) => codePoint),
        ['U+10380'],
        html,
      );
    }
  });

  describe('in what is printed beside the document', () => {
    const missing = async (options: RenderOptions, html = '<p>x</p>') =>
      (await observed(`<!doctype html>${html}`, options)).findings.missingGlyphs.map(
        ({ codePoint, page }) => `${codePoint} on page ${page}`,
      );
    const shownIn = (name: string, text: string): RenderOptions => ({
      displayHeaderFooter: true,
      headerTemplate: '<div></div>',
      footerTemplate: '<div></div>',
      margin: { top: '30mm', bottom: '30mm' },
      [name]: `<div style="font-size: 12px">${text}</div>`,
    });
    const TWO = '<p style="break-after: page">x</p><p>y</p>';

    it('names a character that no font has, in a watermark', async () => {
      assert.deepEqual(await missing({ watermark: { text: 'Draft \u{10380}' } }), ['U+10380 on page 1']);
      const { code } = await failure(
        render(bench, '<p>x</p>', { watermark: { text: '\u{10380}' }, failOn: { missingGlyph: true } }),
      );
      assert.equal(code, 'GLYPH_MISSING');
    });

    it('names it in a header, a footer, and those of the first and last page', async () => {
      assert.deepEqual(await missing(shownIn('headerTemplate', '&#x10380;')), ['U+10380 on page 1']);
      const footer = await missing(shownIn('footerTemplate', '\u{10380}'), TWO);
      assert.deepEqual(footer, ['U+10380 on page 1', 'U+10380 on page 2']);
      assert.deepEqual(await missing(shownIn('firstHeaderTemplate', '\u{10380}'), TWO), [
        'U+10380 on page 1',
      ]);
      assert.deepEqual(await missing(shownIn('lastFooterTemplate', '\u{10380}'), TWO), ['U+10380 on page 2']);
    });

    it('has nothing to say of characters that fonts have, nor of templates that are not printed', async () => {
      assert.deepEqual(
        await missing({ watermark: { text: 'Entwurf é' }, ...shownIn('headerTemplate', 'Größe €') }),
        [],
      );
      assert.deepEqual(await missing({ headerTemplate: '\u{10380}' }), []);
    });

    it('inspects a document that was hidden while its headers were printed', async () => {
      const html = `<!doctype html>${LIST}${DEAD}`;
      const { messages } = await observed(html, shownIn('firstHeaderTemplate', 'First'));
      assert.equal(messages.length, 2, messages.join('\n'));
    });
  });

  it('is bounded in the frames and shadow trees of a document', async () => {
    const many = `<script>for (let i = 0; i < 300; i++) {
      const host = document.body.appendChild(document.createElement('div'));
      host.attachShadow({ mode: 'open' }).innerHTML = '<a href="#nowhere">x</a>';
    }</script>`;
    const { messages, findings } = await observed(`<!doctype html><body>${many}`);
    // On a busy machine the time may be over before all were looked at.
    assert.ok(messages.length <= 6, messages.join('\n'));
    if (messages.length === 6) assert.match(messages[5]!, /^deadLink: \d+ more like: /);
    assert.ok(findings.truncated.has('observations'));
  });
});
