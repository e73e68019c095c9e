import assert from 'node:assert/strict';
import puppeteer, { type Browser } from 'puppeteer';
import { findBrowser } from '../../../src/chromium/process/find-browser.ts';
import { callApi, openApi, type TestApi } from './support/api.ts';

describe('the documentation page', () => {
  let api: TestApi;
  let browser: Browser;

  before(async () => {
    api = await openApi();
    const binary = await findBrowser({ warn: () => undefined });
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    browser = await puppeteer.launch({
      executablePath: binary.path,
      env: { ...process.env, ...binary.env },
      headless: 'shell',
      args: ['--disable-quic', '--no-first-run', '--disable-background-networking', ...sandbox],
    });
  });
  after(async () => {
    await browser.close();
    await api.close();
  });

  it('shows every group and its routes in a browser, under its strict policy, from this address alone', async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const asked = new Set<string>();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) asked.add(new URL(request.url()).origin);
    });
    await page.goto(`${api.url}/docs`);
    await page.waitForSelector('#operations-Rendering-post_v1_pdf');
    const paths = await page.$$eval('.opblock-summary-path', (all) =>
      all.map((element) => (element.getAttribute('data-path') ?? '').trim()),
    );
    const document = (await callApi(api.url, 'GET', '/openapi.json')).json;
    const operations = Object.values<object>(document.paths).flatMap((path) => Object.keys(path));
    assert.equal(paths.length, operations.length);
    await page.click('#operations-Rendering-post_v1_pdf button.opblock-summary-control');
    await page.waitForSelector('#operations-Rendering-post_v1_pdf .responses-table');
    assert.deepEqual(complaints, []);
    assert.deepEqual([...asked], [api.url]);
  });
});
