import assert from 'node:assert/strict';
import { examineDocument } from '../../../src/render/chromium/job/document/job-document.ts';
import { readPdf, renderPage } from '../../support/pdf.ts';
import { type Bench, inDrawnFrames, render, type Site, startBench, startSite } from './support.ts';

/** Documents without script that set what belongs to a document, a window or a process rather than to an element. */
const TRACES: Readonly<Record<string, string>> = {
  'a title, a language and a direction': '<!doctype html><html lang=ar dir=rtl><title>secret</title><p>x',
  'quirks mode': '<p>x',
  'limited quirks mode':
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd"><p>x',
  'a base address': '<!doctype html><base href="http://secret.test/" target=_blank><p>x',
  'an encoding': '<!doctype html><meta charset=shift_jis><p>x',
  'registered properties':
    '<!doctype html><style>@property --a { syntax: "<color>"; inherits: true; initial-value: red }</style><p>x',
  'layers, counters and key frames':
    '<!doctype html><style>@layer b, a; @counter-style c { system: cyclic; symbols: X } @container (width > 0) { p { color: red } }</style><p>x',
  'a page of its own size': '<!doctype html><style>@page { size: A6 landscape; margin: 3in }</style><p>x',
  'style of the root':
    '<!doctype html><style>:root { --a: red; color: red; zoom: 2; writing-mode: vertical-rl; font-size: 40px; overflow: hidden }</style><p>x',
  'colours of the body': '<!doctype html><body bgcolor=red text=blue link=lime vlink=lime alink=lime>x',
  'a viewport': '<!doctype html><meta name=viewport content="width=200, initial-scale=3"><p>x',
  'a colour scheme': '<!doctype html><meta name=color-scheme content=dark><p>x',
  'a theme':
    '<!doctype html><meta name=theme-color content=red><meta name=application-name content=secret><p>x',
  'a policy': `<!doctype html><meta http-equiv=Content-Security-Policy content="style-src 'none'; script-src 'none'"><p>x`,
  'a referrer policy': '<!doctype html><meta name=referrer content=unsafe-url><p>x',
  'a preferred style sheet': '<!doctype html><style title=secret>p { color: red }</style><p>x',
  'form controls, open parts and focus':
    '<!doctype html><form name=f><input name=a value=secret checked type=checkbox></form><details open>x</details><dialog open>x</dialog><p id=p popover>x',
  'named elements': '<!doctype html><img name=fonts><form name=body></form><a id=leak name=leak>x</a>',
  'a font':
    '<!doctype html><style>@font-face { font-family: Arial; src: url(data:font/ttf;base64,AAAA) } p { font-family: Arial }</style><p>x',
  'a picture': '<!doctype html><img src="SITE/picture"><p style="background: url(SITE/picture)">x',
  'a frame': '<!doctype html><iframe name=leak src="SITE/frame"></iframe>',
  'a picture in data':
    '<!doctype html><img src="data:image/svg+xml,<svg xmlns=\'http://www.w3.org/2000/svg\'/>">',
  'a shadow tree':
    '<!doctype html><div><template shadowrootmode=open><style>p { color: red }</style><p>x</template></div>',
  'an animation':
    '<!doctype html><style>@keyframes k { to { color: red } } p { animation: k 1s }</style><p>x',
  'a focused field': '<!doctype html><input autofocus><p>x',
};

/** Shows what of that can be seen. */
const STILL_PROBE = `<!doctype html><style>p::after { content: counter(c, c); color: var(--a) } .f { font-family: Arial }</style>
<p>text <a href="#p">link</a><p class=f>more text<form><input name=a value=x></form><table><tr><td>cell</table><details>inside</details>`;

/** Says what a script can find of it. Names that would bring it into a page that draws frames are put together. */
const SCRIPTED_PROBE = `<!doctype html><p id=p style="overflow-wrap: anywhere"></p><canvas hidden></canvas><script>
  const root = document.documentElement, style = getComputedStyle(root), past = window['hist' + 'ory'];
  const seen = {
    mode: document.compatMode, title: document.title, language: root.lang, direction: document.dir, base: document.baseURI,
    encoding: document.characterSet, referrer: document.referrer, cookie: document.cookie, active: document.activeElement?.tagName,
    fonts: document.fonts.size, fontStatus: document.fonts.status, sheets: document.styleSheets.length,
    preferred: document.preferredStyleSheetSet, forms: document.forms.length, images: document.images.length,
    frames: window.length, been: past.length > 2, state: past.state, name: window.name, leak: typeof window.leak,
    globals: Object.keys(window).length, markup: document.head.innerHTML.length, width: innerWidth, height: innerHeight,
    ratio: devicePixelRatio, moved: [pageXOffset, pageYOffset], visual: visualViewport.scale, secure: isSecureContext,
    dark: matchMedia('(prefers-color-scheme: dark)').matches, hash: document.URL.split('#')[1], storage: localStorage.length,
    resources: performance.getEntriesByType('resource').map(({ name }) => name), marks: performance.getEntriesByType('mark').length,
    moving: document['getAnim' + 'ations']().length, selection: String(getSelection()), property: style.getPropertyValue('--a'),
    style: [...style].filter((name) => !/size|origin/.test(name)).map((name) => name + style.getPropertyValue(name)).join(),
    drawn: (() => { const c = document.querySelector('canvas').getContext('2d'); c.font = '20px Arial'; return c.measureText('mm').width })(),
  };
  let sum = 0;
  for (const character of seen.style) sum = (sum * 31 + character.charCodeAt(0)) | 0;
  seen.style = sum;
  p.textContent = JSON.stringify(seen);
</script>`;

const PROBES = [SCRIPTED_PROBE, STILL_PROBE];

describe('what a document without script leaves', () => {
  let bench: Bench;
  let site: Site;
  before(async () => {
    bench = await startBench();
    site = await startSite((request, response) => {
      const picture = request.url === '/picture';
      response.writeHead(200, {
        'Content-Type': picture ? 'image/svg+xml' : 'text/html',
        'Set-Cookie': 'a=b',
      });
      response.end(picture ? '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>' : '<p>x');
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  for (const frames of [false, true]) {
    const prepare = (html: string) => (frames ? inDrawnFrames(html) : html);
    const print = async (html: string, accountId: string) =>
      (await render(bench, prepare(html), {}, { accountId })).bytes;
    const seen = async (accountId: string, probe: string) => {
      const pdf = await print(probe, accountId);
      const [{ text, pages }, picture] = await Promise.all([readPdf(pdf), renderPage(pdf)]);
      const { width, height } = picture;
      return { text, pages: pages.length, width, height, ink: picture.countInk(), box: picture.boxOfInk() };
    };

    /** What is seen where nothing else was printed. */
    const known = new Map<string, Promise<unknown>>();
    const alone = (probe: string) => {
      if (!known.has(probe)) known.set(probe, seen(`alone ${frames} ${probe.length}`, probe));
      return known.get(probe);
    };

    it(`is checked in pages that draw ${frames ? '' : 'no '}frames`, () => {
      for (const probe of PROBES) {
        const { needsFrames } = examineDocument({ kind: 'html', html: prepare(probe) }, {});
        assert.equal(needsFrames, frames);
      }
    });

    for (const [what, html] of Object.entries(TRACES)) {
      it(`is nothing that the next one shows or finds: ${what}, in pages that draw ${frames ? '' : 'no '}frames`, async () => {
        const accountId = `${what} ${frames}`;
        for (const probe of PROBES) {
          await print(html.replaceAll('SITE', site.at('')), accountId);
          assert.deepEqual(await seen(accountId, probe), await alone(probe));
        }
      });
    }
  }
});
