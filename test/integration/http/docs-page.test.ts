import assert from 'node:assert/strict';
import type { Browser } from 'puppeteer';
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
    const complaints: string[] = [];
    const asked = new Set<string>();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) asked.add(new URL(request.url()).origin);
    });
    await page.goto(`${api.url}/docs/api/try`);
    await page.waitForSelector('#operations-Rendering-renderPdf');
    const paths = await page.$$eval('.opblock-summary-path', (all) =>
      all.map((element) => (element.getAttribute('data-path') ?? '').trim()),
    );
    const document = (await callApi(api.url, 'GET', '/openapi.json')).json;
    const operations = [document.paths, document.webhooks]
      .flatMap((all) => Object.values<object>(all))
      .flatMap((path) => Object.keys(path));
    assert.equal(paths.length, operations.length);
    await page.click('#operations-Rendering-renderPdf button.opblock-summary-control');
    await page.waitForSelector('#operations-Rendering-renderPdf .responses-table');
    assert.deepEqual(complaints, []);
    assert.deepEqual([...asked], [api.url]);
  });
});
