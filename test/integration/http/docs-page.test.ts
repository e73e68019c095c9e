import assert from 'node:assert/strict';
import type { Browser } from 'puppeteer';
import { eventually } from '../../support/eventually.ts';
import { openWebBrowser } from '../../support/web-browser.ts';
import { callApi, openApi, type TestApi } from './support/api.ts';

describe('The documentation page', () => {
  let api: TestApi;
  let browser: Browser;

  before(async () => {
    api = await openApi();
    browser = await openWebBrowser();
  });
  after(async () => {
    await browser.close();
    await api.close();
  });

  it('shows every group and its routes in a browser, under its strict policy, with files of this address only', async () => {
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 4000 });
    const complaints: string[] = [];
    const asked = new Set<string>();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) asked.add(new URL(request.url()).origin);
    });
    await page.goto(`${api.url}/docs/api/try`);
    await page.waitForSelector('#operations-Rendering-renderPdf');
    const document = (await callApi(api.url, 'GET', '/openapi.json')).json;
    const operations = [document.paths, document.webhooks]
      .flatMap((all) => Object.values<object>(all))
      .flatMap((path) => Object.keys(path));
    // A list of 150 rows or more holds only those in view: it is read as a person reads it, screen by screen.
    const shown = new Set<string>();
    await eventually('all routes have been shown', async () => {
      const ids = await page.$$eval('.opblock', (all) => all.map(({ id }) => id));
      for (const id of ids) shown.add(id);
      await page.evaluate(() => scrollBy(0, innerHeight / 2));
      return shown.size >= operations.length;
    });
    assert.equal(shown.size, operations.length);
    await page.evaluate(() => scrollTo(0, 0));
    await page.waitForSelector('#operations-Rendering-renderPdf');
    await page.click('#operations-Rendering-renderPdf button.opblock-summary-control');
    await page.waitForSelector('#operations-Rendering-renderPdf .responses-table');
    assert.deepEqual(complaints, []);
    assert.deepEqual([...asked], [api.url]);
  });
});
