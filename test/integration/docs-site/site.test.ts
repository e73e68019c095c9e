import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'puppeteer';
import { findBrokenLinks } from '../../../scripts/docs-site/links.ts';
import { ROOT } from '../../../scripts/docs-site/root.ts';
import { RANKING } from '../../../scripts/docs-site/search-settings.ts';
import { addressOf, readPages } from '../../../src/http/site/docs/pages.ts';
import { ERRORS } from '../../../src/infra/errors/registry.ts';
import { barriersOf } from '../../support/barriers.ts';
import { openWebBrowser, watchPage } from '../../support/web-browser.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { hiddenOf } from './support/hidden.ts';
import { QUERIES } from './support/queries.ts';

const DIST = join(ROOT, 'site/dist');
/** One page of each kind: by hand, generated, with pictures, with wide tables, with code, of the API, for contributors. */
const KINDS = [
  '',
  '/guide/start',
  '/errors',
  '/options',
  '/configuration',
  '/plans',
  '/limits',
  '/reference/custom-resources',
  '/dashboards',
  '/api',
  '/api/operations/renderpdf',
  '/runbooks/PlatenQueueAge',
  '/tour',
  '/decisions',
];
/** Many pages of one kind, of which one is enough. */
const ALIKE = /^(?:api|runbooks)\//;
/** Pixels: a phone and two windows. */
const WIDTHS = [390, 1280, 1920];

describe('The documentation site', () => {
  let api: TestApi;
  let browser: Browser;
  let folder: string;

  before(async () => {
    if (!existsSync(DIST)) await promisify(execFile)('make', ['docs'], { cwd: ROOT });
    folder = await mkdtemp(join(tmpdir(), 'platen-docs-'));
    api = await openApi();
    browser = await openWebBrowser();
  });
  after(async () => {
    await browser?.close();
    await api?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens a page, and notes what it complains of and what it asks other hosts for. */
  async function open(path: string, scheme = 'light'): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage();
    const complaints: string[] = [];
    watchPage(page, api.url, complaints);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    const response = await page.goto(`${api.url}${path}`, { waitUntil: 'load' });
    assert.equal(response?.status(), 200, path);
    return { page, complaints };
  }

  it('opens under its policy without a complaint and without asking any other host, in light and dark', async () => {
    for (const path of KINDS) {
      for (const scheme of ['light', 'dark']) {
        const { page, complaints } = await open(`/docs${path}`, scheme);
        assert.deepEqual(complaints, []);
        assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), scheme);
        assert.ok((await page.evaluate(() => document.styleSheets.length)) > 2, path);
        await page.close();
      }
    }
  });

  it('finds pages by their words, under the same policy', async () => {
    const { page, complaints } = await open('/docs');
    await page.waitForSelector('button[data-open-modal]:not([disabled])');
    await page.click('button[data-open-modal]');
    await page.waitForSelector('#starlight__search input');
    await page.type('#starlight__search input', 'idempotency');
    await page.waitForSelector('#starlight__search a[href^="/docs/"]');
    assert.deepEqual(complaints, []);
    for (const scheme of ['light', 'dark']) {
      await page.evaluate((theme) => {
        document.documentElement.dataset.theme = theme;
      }, scheme);
      assert.deepEqual(await barriersOf(page), [], scheme);
    }
    await page.close();
  });

  it('has a section for each error at the docsUrl of its responses', async () => {
    const response = await fetch(`${api.url}/v1/none`);
    const { docsUrl } = (await response.json()) as { docsUrl: string };
    const { page } = await open(docsUrl.slice(api.url.length));
    const missing = await page.evaluate(
      (codes) => codes.filter((code) => document.getElementById(code) === null),
      Object.keys(ERRORS),
    );
    assert.deepEqual(missing, []);
    assert.ok(docsUrl.endsWith('#NOT_FOUND'));
    await page.close();
  });

  it('has nothing inline on any page, which its policy would block', () => {
    const pages = globSync('**/*.html', { cwd: DIST });
    assert.ok(pages.length > 100);
    const inline = /<style|<[a-z][^<>]* style="|<script(?![^>]* src=)|<[a-z][^<>]* on[a-z]+="/;
    assert.deepEqual(
      pages.filter((page) => inline.test(readFileSync(join(DIST, page), 'utf8'))),
      [],
    );
  });

  it('is sent compressed to who takes that, with names that change kept for good and pages asked for again', async () => {
    const get = (path: string, encoding: string) =>
      fetch(`${api.url}/docs${path}`, { headers: { 'Accept-Encoding': encoding } });
    const page = await get('/errors', 'gzip');
    assert.match(await page.text(), /RATE_LIMITED/);
    const head = (name: string) => page.headers.get(name);
    assert.deepEqual(
      [head('content-encoding'), head('cache-control'), head('vary')],
      ['gzip', 'no-cache', 'Accept-Encoding'],
    );
    assert.equal((await get('/errors', 'identity')).headers.get('content-encoding'), null);
    const document = await fetch(`${api.url}/openapi.json`, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(document.headers.get('content-encoding'), 'gzip');
    assert.equal(((await document.json()) as { openapi: string }).openapi, '3.1.0');
    const [sheet = ''] = globSync('_astro/*.css', { cwd: DIST });
    assert.match((await get(`/${sheet}`, 'gzip')).headers.get('cache-control')!, /immutable/);
  });

  it('has each page as Markdown, and a list of them for programs', async () => {
    const list = await (await fetch(`${api.url}/docs/llms.txt`)).text();
    const addresses = [...list.matchAll(/\]\((\/docs\/[^)]+\.md)\)/g)].map(([, address]) => address!);
    assert.ok(addresses.length > 60);
    // What has to be at hand for a page, and what leads to its first example, say nothing of it.
    assert.match(list, /^- \[Protected PDFs\]\(\S+\): protection encrypts the PDF: [^.]* by AES-256\.$/m);
    assert.match(list, /^- \[Plans\]\(\S+\): The plan of an account sets .* its price\.$/m);
    for (const address of addresses) {
      const response = await fetch(`${api.url}${address}`);
      assert.match(await response.text(), /^# \S/, address);
      assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8', address);
    }
  });

  it('gives nothing but its own files', async () => {
    for (const path of ['/%2e%2e/%2e%2e/package.json', '/..%2f..%2fpackage.json', '/%00', '/none', '/_astro'])
      assert.equal((await fetch(`${api.url}/docs${path}`)).status, 404, path);
  });

  it('responds with 404 as a page to a browser, and as JSON to a program', async () => {
    const asked = (accept: string) => fetch(`${api.url}/docs/none`, { headers: { Accept: accept } });
    const [page, error] = [await asked('text/html,*/*'), await asked('*/*')];
    assert.deepEqual([page.status, error.status], [404, 404]);
    assert.match(await page.text(), /^<!DOCTYPE html>/);
    assert.equal(((await error.json()) as { code: string }).code, 'NOT_FOUND');
  });

  for (const path of KINDS)
    it(`hides nothing and has no barrier on a phone and in wide windows: /docs${path}`, async () => {
      const { page } = await open(`/docs${path}`);
      for (const width of WIDTHS) {
        await page.setViewport({ width, height: 800 });
        assert.deepEqual(await hiddenOf(page), [], String(width));
      }
      for (const [width, scheme] of [
        [390, 'dark'],
        [1280, 'light'],
      ] as const) {
        await page.setViewport({ width, height: 800 });
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        // The theme makes code that scrolls a place for the focus a moment after it is there; what is folded, once it is not.
        await page.waitForFunction(
          (theme) =>
            document.documentElement.dataset.theme === theme &&
            [...document.querySelectorAll('pre')]
              .filter((code) => code.closest('details:not([open])') === null)
              .every(
                ({ scrollWidth, clientWidth, tabIndex }) => scrollWidth <= clientWidth || tabIndex === 0,
              ),
          {},
          scheme,
        );
        assert.deepEqual(await barriersOf(page), [], `${width} ${scheme}`);
      }
      await page.close();
    });

  it('hides nothing on a phone, on any page for users or operators that is written by hand', async () => {
    const groups = (await readPages(ROOT)).filter(({ forContributors }) => !forContributors);
    const slugs = groups
      .flatMap(({ pages }) => pages.map(({ slug }) => slug))
      .filter((slug) => !ALIKE.test(slug));
    assert.ok(slugs.length > 50);
    const { page } = await open('/docs');
    await page.setViewport({ width: 390, height: 800 });
    for (const slug of slugs) {
      await page.goto(`${api.url}${addressOf(slug)}`, { waitUntil: 'load' });
      assert.deepEqual(await hiddenOf(page), [], slug);
    }
    await page.close();
  });

  it('shows an operation on two screens, with an example first', async () => {
    const { page } = await open('/docs/api/operations/renderpdf');
    await page.setViewport({ width: 1280, height: 1200 });
    const [height, first] = await page.$eval('.sl-markdown-content', (content) => {
      const heading = content.querySelector('h2')!;
      const code = content.querySelector('pre')!;
      const isFirst = code.compareDocumentPosition(heading) & Node.DOCUMENT_POSITION_FOLLOWING;
      return [content.getBoundingClientRect().height, isFirst === 0 ? '' : code.textContent] as const;
    });
    assert.match(first, /^curl .*\/v1\/pdf/);
    assert.ok(height < 2 * 1200, `${height} pixels`);
    await page.close();
  });

  it('answers what users ask among the first three results', async () => {
    const { page, complaints } = await open('/docs');
    const found = await found3(page, 'pagefind', Object.keys(QUERIES));
    const wrong = Object.entries(QUERIES).flatMap(([query, wanted]) =>
      wanted.some((slug) => found[query]?.includes(`/docs/${slug}`)) ? [] : [`${query}: ${found[query]}`],
    );
    assert.deepEqual(wrong, []);
    assert.ok(Object.keys(QUERIES).length >= 42);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it('finds decisions by a search of their own alone', async () => {
    const { page, complaints } = await open('/docs/decisions');
    const query = 'idempotency';
    const [users, contributors] = [
      await found3(page, 'pagefind', [query]),
      await found3(page, 'pagefind-contributors', [query]),
    ];
    assert.ok(users[query]!.every((url) => !url.startsWith('/docs/decisions')));
    assert.ok(contributors[query]!.includes('/docs/decisions/0023-idempotency'), String(contributors[query]));
    await page.waitForSelector('#contributor-search input');
    await page.type('#contributor-search input', query);
    await page.waitForSelector('#contributor-search a[href="/docs/decisions/0023-idempotency"]');
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it('is not built with a link to a page or an anchor that does not exist', async () => {
    const site = join(folder, 'site');
    await mkdir(join(site, 'b'), { recursive: true });
    const links = [
      '/docs/b',
      '/docs/b#there',
      '/docs/b#gone',
      '/docs/c',
      '/docs/x.md',
      '#here',
      '/elsewhere',
    ];
    const anchors = links.map((link) => `<a href="${link}">x</a>`).join('');
    await writeFile(join(site, 'index.html'), `<p id="here">${anchors}<a href="https://example.com/">y</a>`);
    await writeFile(join(site, 'b/index.html'), '<h2 id="there">z</h2>');
    assert.deepEqual(findBrokenLinks(site, ['/elsewhere']), [
      '/docs: /docs/b#gone',
      '/docs: /docs/c',
      '/docs: /docs/x.md',
    ]);
  });
});

/** The addresses of the first three results of each query, in the index of that name. */
function found3(
  page: Page,
  index: string,
  queries: readonly string[],
): Promise<Record<string, string[] | undefined>> {
  return page.evaluate(
    async ({ module, asked, ranking }) => {
      const pagefind = await import(module);
      await pagefind.options({ baseUrl: '/docs', ranking });
      const found: Record<string, string[]> = {};
      for (const query of asked) {
        const { results } = await pagefind.search(query);
        const pages = await Promise.all(
          results.slice(0, 3).map((result: { data(): Promise<{ url: string }> }) => result.data()),
        );
        found[query] = pages.map(({ url }) => url.replace(/\/$/, ''));
      }
      return found;
    },
    { module: `/docs/${index}/pagefind.js`, asked: queries, ranking: RANKING },
  );
}
