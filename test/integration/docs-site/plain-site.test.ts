import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Browser, Page } from 'puppeteer';
import { findBrokenLinks } from '../../../scripts/docs-site/links.ts';
import { ROOT } from '../../../scripts/docs-site/root.ts';
import { addressOf, readPages } from '../../../src/http/site/docs/pages.ts';
import { DocumentationFiles } from '../../../src/http/site/documentation-files.ts';
import { ERRORS } from '../../../src/infra/errors/registry.ts';
import { barriersOf } from '../../support/barriers.ts';
import { openWebBrowser, watchPage } from '../../support/web-browser.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { hiddenOf } from './support/hidden.ts';

/** One page of each kind: by hand, generated, with pictures, with code, with wide tables, of a client. */
const KINDS = [
  '',
  '/errors',
  '/options',
  '/limits',
  '/dashboards',
  '/tour',
  '/clients/typescript',
  '/api/operations/renderpdf',
];
/** A phone and two windows. */
const WIDTHS = [390, 1280, 1920];

describe('The documentation where its site has not been built', () => {
  let folder: string;
  let api: TestApi;
  let browser: Browser;
  let addresses: string[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-plain-'));
    await symlink(join(ROOT, 'docs'), join(folder, 'docs'));
    await symlink(join(ROOT, 'clients'), join(folder, 'clients'));
    api = await openApi({ documentation: new DocumentationFiles(folder) });
    browser = await openWebBrowser();
    addresses = (await readPages(folder)).flatMap(({ pages }) => pages).map(({ slug }) => addressOf(slug));
  });
  after(async () => {
    await browser?.close();
    await api?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(path: string): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage();
    const complaints: string[] = [];
    watchPage(page, api.url, complaints);
    const response = await page.goto(`${api.url}${path}`);
    assert.equal(response?.status(), 200, path);
    return { page, complaints };
  }

  /** Over a connection of its own: links are looked at for longer than the server keeps one that is not used. */
  async function read(path: string) {
    const [response] = (await once(get(`${api.url}${path}`, { agent: false }), 'response')) as [
      IncomingMessage,
    ];
    return {
      status: response.statusCode,
      type: response.headers['content-type'],
      body: await buffer(response),
    };
  }

  it('has every page at its address, with links that lead somewhere', async () => {
    const written = join(folder, 'written');
    assert.ok(addresses.length > 100);
    for (const address of addresses) {
      const response = await read(address);
      assert.equal(response.type, 'text/html; charset=utf-8', address);
      const file = join(written, address.slice('/docs'.length), 'index.html');
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(file, response.body);
    }
    const elsewhere = [
      '/dashboard',
      '/openapi.json',
      '/docs/api/try',
      '/docs/plain.css',
      '/docs/favicon.png',
    ];
    const broken = findBrokenLinks(written, elsewhere);
    const pictures = broken.map((line) => line.split(': ')[1]!).filter((to) => /\.(?:svg|webp)$/.test(to));
    const markdown = broken.map((line) => line.split(': ')[1]!).filter((to) => to.endsWith('.md'));
    assert.deepEqual(broken.length, pictures.length + markdown.length, broken.join('\n'));
    assert.ok(pictures.length > 0);
    assert.equal(markdown.length, addresses.length);
    for (const path of [...pictures, ...markdown]) {
      assert.equal((await read(path)).status, 200, path);
    }
  });

  it('opens the section of the error at its docsUrl', async () => {
    const response = await fetch(`${api.url}/v1/none`);
    const { docsUrl } = (await response.json()) as { docsUrl: string };
    const { page, complaints } = await open(docsUrl.slice(api.url.length));
    const missing = await page.evaluate(
      (codes) => codes.filter((code) => document.getElementById(code) === null),
      Object.keys(ERRORS),
    );
    assert.deepEqual(missing, []);
    const [text, top, height] = await page.$eval(':target', (target) => {
      return [target.textContent, target.getBoundingClientRect().top, window.innerHeight] as const;
    });
    assert.match(text, /^NOT_FOUND/);
    assert.ok(top > 0 && top < height / 2, `${top} of ${height}`);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  for (const path of KINDS)
    it(`hides nothing and has no barrier on a phone and in wide windows: /docs${path}`, async () => {
      const { page, complaints } = await open(`/docs${path}`);
      for (const width of WIDTHS) {
        await page.setViewport({ width, height: 800 });
        assert.deepEqual(await hiddenOf(page), [], String(width));
      }
      for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        assert.deepEqual(await barriersOf(page), [], scheme);
      }
      assert.deepEqual(complaints, []);
      await page.close();
    });

  it('leads from page to page by its side bar, also on a phone', async () => {
    const { page } = await open('/docs');
    await page.setViewport({ width: 390, height: 800 });
    await page.click('header .menu');
    await Promise.all([page.waitForNavigation(), page.click('#pages a[href="/docs/options"]')]);
    assert.equal(await page.$eval('h1', (heading) => heading.textContent), 'Render options');
    assert.equal(await page.$eval('[aria-current]', (link) => link.textContent), 'Render options');
    await page.close();
  });

  it('has a list of its pages for programs', async () => {
    const list = await (await fetch(`${api.url}/docs/llms.txt`)).text();
    const meanings = [...list.matchAll(/\]\(\/docs\/[^)]+\.md\)(.*)$/gm)].map(([, meaning]) => meaning!);
    assert.equal(meanings.length, addresses.length);
    const whole = meanings.filter((meaning) => /^: .*[.!?)]$/.test(meaning));
    assert.ok(whole.length > addresses.length - 5, `${whole.length} of ${addresses.length}`);
  });

  it('has a page for each operation, with a command that names its method and path', async () => {
    const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
    );
    assert.ok(operations.length > 80);
    for (const { path, method, operationId } of operations) {
      const page = await fetch(`${api.url}/docs/api/operations/${operationId.toLowerCase()}.md`);
      const [command = ''] = /^curl (?:.*\\\n)*.*/m.exec(await page.text()) ?? [];
      const start = path.split('{')[0]!;
      assert.ok(command.includes(`http://localhost:8080${start}`), operationId);
      const sent = /-X (\w+)/.exec(command)?.[1] ?? (command.includes(" -d '") ? 'POST' : 'GET');
      assert.equal(sent, method.toUpperCase(), operationId);
    }
  });

  it('gives nothing but its pages and pictures', async () => {
    for (const path of ['/%2e%2e/package.json', '/..%2fpackage.json', '/%00', '/none', '/openapi.json'])
      assert.equal((await fetch(`${api.url}/docs${path}`)).status, 404, path);
    const missing = await fetch(`${api.url}/docs/none`, { headers: { Accept: 'text/html' } });
    assert.equal(missing.status, 404);
    assert.match(await missing.text(), /Page not found/);
  });
});
