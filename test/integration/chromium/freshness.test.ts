import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { type Rgb, readPdf, renderPage } from '../../support/pdf.ts';
import { type Bench, inDrawnFrames, render, type Site, startBench, startSite } from './support.ts';

/** What an address shows when it is asked for the first time, the second, and so on. */
const COLOURS: readonly (readonly [name: string, rgb: Rgb])[] = [
  ['#ff0000', [255, 0, 0]],
  ['#00ff00', [0, 255, 0]],
  ['#0000ff', [0, 0, 255]],
  ['#ff00ff', [255, 0, 255]],
  ['#00ffff', [0, 255, 255]],
];
const FONTS = ['Bold', 'Italic', 'BoldItalic', 'Regular'];

/** What servers say of documents that are not to be shown again without asking; the last one says nothing. */
const UNCACHED = ['no-store', 'no-cache', 'max-age=0', ''];
const CACHED = 'max-age=3600';

/** Pixels of one square of 60 CSS pixels, of which its edges may lack some. */
const SQUARE = 45 * 45;

const svg = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><g id="i"><rect width="60" height="60" fill="${colour}"/></g></svg>`;
const page = (colour: string) => `<body style="margin:0;background:${colour}">`;
const sheet = (colour: string, id: string) =>
  `.${id} { display: inline-block; width: 60px; height: 60px; background: ${colour} }`;

interface Kind {
  readonly type: string;
  /** @param id of the square that a style sheet is for. */
  readonly body: (colour: string, id: string) => string;
  /** A square that shows what is at `address`. */
  readonly show: (address: string, id: string) => string;
  /** Only documents of its own origin may use it. */
  readonly sameOrigin?: boolean;
}

const SVG = { type: 'image/svg+xml', body: svg } as const;
const CSS = { type: 'text/css', body: sheet } as const;
const HTML = { type: 'text/html', body: page } as const;

const KINDS: Readonly<Record<string, Kind>> = {
  picture: { ...SVG, show: (at) => `<img src="${at}">` },
  'picture of a set': { ...SVG, show: (at) => `<picture><source srcset="${at}"><img></picture>` },
  background: {
    ...SVG,
    show: (at) => `<b style="display:inline-block;width:60px;height:60px;background:url(${at})"></b>`,
  },
  'SVG image': {
    ...SVG,
    show: (at) => `<svg width=60 height=60><image href="${at}" width=60 height=60 /></svg>`,
  },
  'SVG use': {
    ...SVG,
    show: (at) => `<svg width=60 height=60><use href="${at}#i"/></svg>`,
    sameOrigin: true,
  },
  'linked style sheet': {
    ...CSS,
    show: (at, id) => `<link rel=stylesheet href="${at}"><b class=${id}></b>`,
  },
  'imported style sheet': {
    ...CSS,
    show: (at, id) => `<style>@import "${at}";</style><b class=${id}></b>`,
  },
  frame: { ...HTML, show: (at) => `<iframe width=60 height=60 frameborder=0 src="${at}"></iframe>` },
  object: { ...HTML, show: (at) => `<object width=60 height=60 data="${at}"></object>` },
};

/** Asks for a page behind a password, with it. */
const ASK = `const x = new XMLHttpRequest(); x.open('GET', self.base ?? '/locked', false, 'ada', 'secret'); x.send()`;
const fromWorker = (script: string) =>
  `const worker = new Worker(URL.createObjectURL(new Blob(['self.base = "' + origin + '/locked";', ${JSON.stringify(`${script}; postMessage(1)`)}])));
   worker.onmessage = () => { p.id = 'done' }`;

interface Mode {
  readonly name: string;
  readonly prepare: (html: string) => string;
  readonly url?: boolean;
  readonly options?: RenderOptions;
}

const same = (html: string) => html;
const scripted = (html: string) => `<script>1</script>${html}`;

const MODES: readonly Mode[] = [
  { name: 'still documents', prepare: same },
  { name: 'still documents in drawn frames', prepare: inDrawnFrames },
  { name: 'documents with script', prepare: scripted },
  { name: 'documents with script in drawn frames', prepare: (html) => inDrawnFrames(scripted(html)) },
  { name: 'documents whose script is off', prepare: scripted, options: { javascriptEnabled: false } },
  { name: 'documents with a policy', prepare: same, options: { csp: "media-src 'none'" } },
  { name: 'source URLs', prepare: same, url: true },
  { name: 'source URLs without script', prepare: same, url: true, options: { javascriptEnabled: false } },
];

describe('what a document fetches', () => {
  let bench: Bench;
  let site: Site;
  const counts = new Map<string, number>();
  const authorizations: (string | undefined)[] = [];
  /** What the page at /page shows. */
  let shown = '';
  let cases = 0;
  let coldLeases = 0;

  before(async () => {
    bench = await startBench({
      metrics: {
        browsers: { set: () => undefined },
        browserRestarts: { inc: () => undefined },
        contextLeases: {
          inc: ({ kind }) => {
            if (kind === 'cold') coldLeases += 1;
          },
        },
      },
    });
    site = await startSite((request, response) => {
      const { href, pathname, searchParams: query } = new URL(request.url!, 'http://x');
      const caching = query.get('policy') ? { 'Cache-Control': query.get('policy')! } : undefined;
      const nth = counts.get(href) ?? 0;
      counts.set(href, nth + 1);
      if (pathname === '/page') {
        const cookie = query.get('cookie');
        response.writeHead(200, {
          'Content-Type': 'text/html',
          ...(cookie && { 'Set-Cookie': `who=${cookie}; Path=/` }),
        });
        response.end(shown);
      } else if (pathname === '/asking') {
        response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<script>${ASK}</script>`);
      } else if (pathname === '/locked') {
        authorizations.push(request.headers.authorization);
        const open = request.headers.authorization !== undefined;
        response
          .writeHead(open ? 200 : 401, { 'WWW-Authenticate': 'Basic realm="test"' })
          .end(open ? 'in' : '');
      } else if (pathname === '/font') {
        response.writeHead(200, {
          ...caching,
          'Content-Type': 'font/ttf',
          'Access-Control-Allow-Origin': '*',
        });
        response.end(font(FONTS[nth % FONTS.length]!));
      } else {
        const { type, body } = KINDS[query.get('kind')!]!;
        response.writeHead(200, { ...caching, 'Content-Type': type });
        response.end(body(COLOURS[nth % COLOURS.length]![0], query.get('id')!));
      }
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  /** An address of its own: the more often it is asked for, the further down COLOURS. */
  const address = (kind: string, policy: string, id = 'a') =>
    site.at(`/asset?${new URLSearchParams({ kind, policy, id, case: String(cases) })}`);

  const print = async (
    html: string,
    mode: Mode,
    accountId: string,
    { cookie = '', ...options }: RenderOptions & { readonly cookie?: string } = {},
  ) => {
    shown = mode.prepare(html);
    const document = mode.url ? { url: site.at(`/page?cookie=${cookie}`) } : shown;
    const all = { printBackground: true, ...mode.options, ...options };
    return (await render(bench, document, all, { accountId })).bytes;
  };

  /** How many squares there are of each colour. */
  const squares = async (pdf: Uint8Array) => {
    const picture = await renderPage(pdf);
    return COLOURS.map(([, rgb]) => Math.round(picture.countColor(rgb) / SQUARE));
  };
  /** Nothing but `count` squares of what is shown when it is asked for the `nth` time, from 0. */
  const only = (nth: number, count: number) => COLOURS.map((_, i) => (i === nth ? count : 0));
  const account = () => `case-${++cases}`;

  for (const mode of MODES) {
    it(`is fetched again by the next, in ${mode.name}: pictures, style sheets, frames and fonts`, async () => {
      const accountId = account();
      const kinds = Object.entries(KINDS).filter(([, { sameOrigin }]) => mode.url || !sameOrigin);
      const shown = kinds.flatMap(([kind, { show }], k) =>
        UNCACHED.map((policy, i) => show(address(kind, policy, `s${k}-${i}`), `s${k}-${i}`)),
      );
      const fonts = UNCACHED.map((policy, i) => {
        const at = site.at(`/font?${new URLSearchParams({ policy, case: String(cases) })}`);
        return `<style>@font-face { font-family: f${i}; src: url(${at}) }</style><p style="font: 40px f${i}">mm`;
      });
      for (let i = 0; i < 3; i++) {
        const pdf = await print([...shown, ...fonts].join(''), mode, accountId);
        assert.deepEqual(await squares(pdf), only(i, shown.length));
        assert.deepEqual(fontsOf(pdf), [`LiberationSans-${FONTS[i]}`]);
      }
    });

    it(`is fetched once by an account when its server allows it, and again under other asset headers, in ${mode.name}`, async () => {
      /** How often it was fetched before each of these renders showed it; undefined when a context was lost meanwhile. */
      const fetched = async (asking: readonly (readonly [name: string, key?: string])[]) => {
        const html = `<img src="${address('picture', CACHED)}">`;
        const accounts = new Map(asking.map(([name]) => [name, account()]));
        const nth = [];
        let wasLost = false;
        for (const [i, [name, key]] of asking.entries()) {
          const options = key === undefined ? {} : { assetHeaders: { Authorization: key } };
          const before = coldLeases;
          nth.push((await squares(await print(html, mode, accounts.get(name)!, options))).indexOf(1));
          const isAsBefore = asking[i - 1]?.[0] === name && asking[i - 1]?.[1] === key;
          wasLost ||= isAsBefore && coldLeases > before;
        }
        return wasLost ? undefined : nth;
      };
      /** A context is given up where a machine is slow or short of memory: then the same is done with other accounts. */
      const fetchedWarm = async (...asking: Parameters<typeof fetched>[0]) => {
        for (;;) {
          const nth = await fetched(asking);
          if (nth !== undefined) return nth;
        }
      };
      assert.deepEqual(await fetchedWarm(['first'], ['first'], ['second']), [0, 0, 1]);
      const keys = ['one', 'one', 'two', undefined, undefined, 'one'];
      assert.deepEqual(await fetchedWarm(...keys.map((key) => ['third', key] as const)), [0, 0, 1, 2, 2, 3]);
    });
  }

  it('is fetched again when the request differs: by another agent, in another language, with cookies, with requests blocked', async () => {
    const cookie = (value: string) => ({ cookies: [{ name: 'a', value, url: site.at('/') }] });
    for (const mode of [MODES[0]!, MODES[3]!, MODES.find(({ url }) => url)!]) {
      const accountId = account();
      const html = `<img src="${address('picture', CACHED)}">`;
      const nth = [];
      for (const options of [
        {},
        { userAgent: 'Reports/1.0' },
        { userAgent: 'Reports/2.0' },
        { locale: 'de' },
        cookie('1'),
      ] as RenderOptions[]) {
        nth.push((await squares(await print(html, mode, accountId, options))).indexOf(1));
      }
      assert.deepEqual(nth, [0, 1, 2, 3, 4], mode.name);
      // What a context has in its cache it shows without asking.
      const blocked = await print(html, mode, accountId, { blockRequests: { kinds: ['image'] } });
      assert.equal((await squares(blocked)).indexOf(1), -1, mode.name);
    }
  });

  it('is fetched again by the next when it is not waited for', async () => {
    const accountId = account();
    // Time for what is not waited for, on a machine that stands still for a moment, too.
    const options = { waitUntil: 'domcontentloaded', delayMs: 1500 } as const;
    const html = UNCACHED.map((policy, i) => `<img src="${address('picture', policy, `s${i}`)}">`).join('');
    for (let i = 0; i < 3; i++) {
      const pdf = await print(html, MODES[0]!, accountId, options);
      assert.deepEqual(await squares(pdf), only(i, UNCACHED.length));
    }
  });

  it('is fetched again by a document of another kind', async () => {
    const accountId = account();
    const html = `<img src="${address('picture', 'no-store')}">`;
    const drawn = MODES.filter(({ url, name }) => url || name.includes('drawn'));
    for (const [i, mode] of [...drawn, drawn[0]!].entries()) {
      assert.deepEqual(await squares(await print(html, mode, accountId)), only(i, 1), mode.name);
    }
  });

  it('is fetched again after a document that had cookies', async () => {
    const accountId = account();
    const mode = MODES.find(({ url }) => url)!;
    const html = `<img src="${address('picture', CACHED)}">`;
    const fetched = [];
    for (const cookie of ['ada', 'grace', '', '']) {
      fetched.push((await squares(await print(html, mode, accountId, { cookie }))).indexOf(1));
    }
    assert.deepEqual(fetched, [0, 1, 2, 2]);
  });

  const withScript = MODES.find(({ name }) => name === 'documents with script')!;
  const sourceUrl = MODES.find(({ url }) => url)!;
  for (const [how, mode, html] of [
    ['XMLHttpRequest', sourceUrl, `<p id=done><script>${ASK}</script>`],
    ['a worker', sourceUrl, `<p id=p></p><script>${fromWorker(ASK)}</script>`],
    [
      'a frame',
      withScript,
      '<iframe src="http://HOST/asking" onload="p.id = \'done\'"></iframe><p id=p></p>',
    ],
    ['an address', withScript, `<p id=done><script>location = 'http://ada:secret@HOST/locked'</script>`],
  ] as const) {
    it(`is not fetched with the password that ${how} of the last document named`, async () => {
      const accountId = account();
      authorizations.length = 0;
      const document = html.replaceAll('HOST', new URL(site.at('/')).host);
      await print(document, mode, accountId, how === 'an address' ? {} : { waitForSelector: '#done' });
      assert.ok(authorizations.some(Boolean), 'it was used');
      authorizations.length = 0;
      for (const next of [MODES[1]!, MODES[3]!, mode]) {
        await print(`<img src="${site.at('/locked')}">`, next, accountId);
      }
      assert.deepEqual(authorizations, [undefined, undefined, undefined]);
    });
  }

  it('is not revealed to the next document by the timing of resources or painting', async () => {
    for (const frames of [same, inDrawnFrames]) {
      const accountId = account();
      await print(
        frames(`<p id=secret>x<img src="${address('picture', 'no-store')}">`),
        MODES[0]!,
        accountId,
      );
      await print(frames('<p id=secret>x'), MODES[0]!, accountId);
      const reported = frames(`<p id=p></p><script>
        const reported = performance.getEntriesByType('resource').map(({ name }) => name);
        for (const type of ['paint', 'largest-contentful-paint', 'layout-shift'])
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) if (entry.startTime < begun) reported.push(type);
          }).observe({ type, buffered: true });
        const begun = performance.now();
        setTimeout(() => { p.textContent = 'told: ' + (reported.join(' ') || 'nothing'); p.id = 'done' }, 100);
      </script>`);
      const pdf = await print(reported, MODES[0]!, accountId, { waitForSelector: '#done' });
      assert.equal((await readPdf(pdf)).text.trim(), 'told: nothing');
    }
  });
});

function font(style: string): Buffer {
  return readFileSync(
    fileURLToPath(import.meta.resolve(`pdfjs-dist/standard_fonts/LiberationSans-${style}.ttf`)),
  );
}

/** The names of the fonts that are embedded. */
function fontsOf(pdf: Uint8Array): string[] {
  return [
    ...new Set(
      Buffer.from(pdf)
        .toString('latin1')
        .match(/LiberationSans(?:-\w+)?/g) ?? [],
    ),
  ];
}
