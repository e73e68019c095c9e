import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openStandaloneService, type Tenant, type TestService } from '../support/service.ts';
import { type Page, serveWebPages, WEB_SOCKET, type WebPages } from '../support/web-pages.ts';

const ROUNDS = 3;

/** What a report says of one request; of several to one address, of the first. */
interface Entry {
  readonly url: string;
  readonly kind: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly rule: string | null;
}
/** Kind, outcome, status and rule, by path or address. */
type Expected = Readonly<Record<string, readonly [string, string, number | null, string | null]>>;

interface PageCase {
  readonly title: string;
  readonly html: string;
  /** Where its document answers with header fields of its own. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: object;
  readonly expected: Expected;
  /** Those of them that never leave: the site does not count them. */
  readonly unsent?: readonly string[];
}

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
const FONT = readFileSync(
  fileURLToPath(import.meta.resolve('pdfjs-dist/standard_fonts/LiberationSans-Bold.ttf')),
);
const of =
  (type: string, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Page =>
  (_, response) =>
    response.writeHead(200, { 'content-type': type, ...headers }).end(body);
const script = (source: string) => of('text/javascript', source);

/** What the pages load; whatever is not there answers 404. */
const ASSETS: Readonly<Record<string, Page>> = {
  '/a.svg': of('image/svg+xml', SVG),
  '/b.svg': of('image/svg+xml', SVG),
  '/kept.svg': of('image/svg+xml', SVG, { 'cache-control': 'max-age=3600' }),
  '/moved': (_, response) => response.writeHead(302, { location: '/again' }).end(),
  '/again': (_, response) => response.writeHead(307, { location: '/b.svg' }).end(),
  '/frame': of('text/html', '<p>frame</p><img src="/a.svg"><iframe src="/inner"></iframe>'),
  '/inner': of('text/html', '<p>inner</p><img src="/lost.svg">'),
  '/f.ttf': of('font/ttf', FONT, { 'access-control-allow-origin': '*' }),
  '/data': of('application/json', '[1]'),
  '/lib.js': script('self.lib = 1'),
  '/worker.js': script(
    `importScripts('/lib.js'); const inner = new Worker('/inner-worker.js'); inner.onmessage = ({ data }) => postMessage(data)`,
  ),
  '/inner-worker.js': script(
    `Promise.all(['/data', '/gone'].map((path) => fetch(path))).then(() => postMessage('done'))`,
  ),
  '/socket': WEB_SOCKET,
};

const PAGES: readonly PageCase[] = [
  {
    title: 'redirects and what is not there',
    html: '<img src="/moved"><img src="/lost.svg"><script>fetch("/data")</script>',
    expected: {
      '/moved': ['image', 'redirected', 302, null],
      '/again': ['image', 'redirected', 307, null],
      '/b.svg': ['image', 'loaded', 200, null],
      '/lost.svg': ['image', 'error', 404, null],
      '/data': ['fetch', 'loaded', 200, null],
    },
  },
  {
    title: 'frames in frames',
    html: '<iframe src="/frame"></iframe>',
    expected: {
      '/frame': ['frame', 'loaded', 200, null],
      '/inner': ['frame', 'loaded', 200, null],
      '/a.svg': ['image', 'loaded', 200, null],
      '/lost.svg': ['image', 'error', 404, null],
    },
  },
  {
    title: 'what workers load, and theirs',
    html: `<p id=p></p><script>new Worker('/worker.js').onmessage = ({ data }) => { p.id = data }</script>`,
    options: { waitForSelector: '#done' },
    expected: {
      '/worker.js': ['worker', 'loaded', 200, null],
      '/lib.js': ['script', 'loaded', 200, null],
      '/inner-worker.js': ['worker', 'loaded', 200, null],
      '/data': ['fetch', 'loaded', 200, null],
      '/gone': ['fetch', 'error', 404, null],
    },
  },
  {
    title: 'fonts, of which only those that are needed',
    html: `<style>@font-face { font-family: f; src: url(/f.ttf) } @font-face { font-family: g; src: url(/g.ttf) }
      @font-face { font-family: unused; src: url(/unused.ttf) } p { font-family: f } i { font-family: g }</style><p>x<i>y</i></p>`,
    expected: { '/f.ttf': ['font', 'loaded', 200, null], '/g.ttf': ['font', 'error', 404, null] },
  },
  {
    title: 'what is loaded again from the cache',
    html: `<p id=p></p><script>(async () => {
      const own = '/kept.svg?' + Math.random(); for (let i = 0; i < 2; i++) await fetch(own).then((r) => r.text()); p.id = 'done' })()</script>`,
    options: { waitForSelector: '#done' },
    expected: { '/kept.svg': ['fetch', 'loaded', 200, null] },
  },
  {
    title: 'web sockets',
    html: `<p id=p></p><script>const socket = new WebSocket('/socket'), none = new WebSocket('/no-socket');
      Promise.all([new Promise((r) => { socket.onopen = r }), new Promise((r) => { none.onerror = r })]).then(() => { p.id = 'done' })</script>`,
    options: { waitForSelector: '#done' },
    expected: {
      '/socket': ['websocket', 'loaded', 101, null],
      '/no-socket': ['websocket', 'error', 404, null],
    },
  },
  {
    title: 'what is blocked, and by which rule',
    html: `<img src="/ad.svg"><img src="http://10.1.2.3/private.svg"><script src="/tracker.js"></script>
      <script>fetch('http://10.1.2.3/data').catch(() => 0)</script>`,
    headers: { 'content-security-policy': "img-src *; script-src 'unsafe-inline'; connect-src *" },
    options: { blockRequests: { urls: ['*/ad.svg'] } },
    expected: {
      '/ad.svg': ['image', 'blocked', null, 'blockRequests'],
      'http://10.1.2.3/private.svg': ['image', 'blocked', null, 'egress'],
      'http://10.1.2.3/data': ['fetch', 'blocked', null, 'egress'],
      '/tracker.js': ['script', 'blocked', null, 'content security policy'],
    },
    unsent: ['/ad.svg', 'http://10.1.2.3/private.svg', 'http://10.1.2.3/data', '/tracker.js'],
  },
];

describe('the requests in the report of a render', () => {
  let service: TestService;
  let site: WebPages;
  let tenant: Tenant;

  before(async () => {
    // Nothing is rendered twice, which the site would count.
    service = await openStandaloneService({ PLATEN_WORKER_SLOTS: '2', PLATEN_LEASE_MS: '60000' });
    site = await serveWebPages({
      ...ASSETS,
      ...Object.fromEntries(
        PAGES.map(({ html, headers }, i) => [
          `/page/${i}`,
          of('text/html; charset=utf-8', `<!doctype html><link rel=icon href="data:,">${html}`, headers),
        ]),
      ),
    });
    tenant = await service.newTenant('business');
  });
  after(async () => {
    await service?.stop();
    await site?.close();
  });

  async function reportedRequests(path: string, options: object = {}): Promise<Entry[]> {
    const { json } = await tenant.client.render({
      url: `${site.url}${path}`,
      options: { waitUntil: 'networkidle', ...options },
      report: true,
      executionMode: 'async',
    });
    const record = await tenant.client.end(json.jobId);
    assert.equal(record.status, 'completed', JSON.stringify(record));
    const { bytes } = await tenant.client.call('GET', record.reportEndpoint);
    return JSON.parse(Buffer.from(bytes).toString()).requests;
  }

  for (const [i, { title, options, expected, unsent = [] }] of PAGES.entries()) {
    it(`are those that the site has counted, ${ROUNDS} times over: ${title}`, async () => {
      const page = `/page/${i}`;
      for (let round = 0; round < ROUNDS; round += 1) {
        site.requests.length = 0;
        const requests = await reportedRequests(page, options);
        const counted = site.requests.map(({ path }) => path.split('?', 1)[0]).sort();
        const short = (url: string) => (url.startsWith('http://10.') ? url : new URL(url).pathname);
        const sent = requests.filter(({ rule, url }) => rule !== 'cache' && !unsent.includes(short(url)));
        assert.deepEqual(sent.map(({ url }) => short(url)).sort(), counted);
        const seen = new Map(
          requests
            .filter(({ rule }) => rule !== 'cache')
            .map(({ url, kind, outcome, status, rule }) => [short(url), [kind, outcome, status, rule]]),
        );
        assert.deepEqual(Object.fromEntries(seen), { [page]: ['page', 'loaded', 200, null], ...expected });
      }
    });
  }
});
