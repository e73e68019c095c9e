import assert from 'node:assert/strict';
import type { HTTPRequest } from 'puppeteer';
import { openNewVisitor } from './support/signed-in.ts';
import type { Visitor } from './support/visitor.ts';

describe('A page of the dashboard that fails, or cannot be loaded,', () => {
  let visitor: Visitor;

  before(async () => {
    visitor = await openNewVisitor();
  });
  after(() => visitor?.close());

  it('keeps its menu, and shows the next one', async () => {
    await visitor.go('/');
    // A response that no page expects.
    await visitor.page.setRequestInterception(true);
    const answer = (request: HTTPRequest) =>
      new URL(request.url()).pathname === '/user/renders'
        ? void request.respond({
            contentType: 'application/json',
            body: '{"total":1,"renders":[{"jobId":7}]}',
          })
        : void request.continue();
    visitor.page.on('request', answer);
    await visitor.byMenu('Renders');
    await visitor.sees('This page could not be shown');
    assert.deepEqual(await visitor.barriers(), []);
    visitor.page.off('request', answer);
    await visitor.page.setRequestInterception(false);
    await visitor.byMenu('Batches');
    await visitor.sees('Many documents in one request');
    // React reports what a page has thrown.
    visitor.complaints.length = 0;
  });

  it('stays as it is without a connection, and loads the page once there is one', async () => {
    await visitor.go('/');
    await visitor.page.evaluate(() => Object.assign(window, { isSame: true }));
    await visitor.page.setCacheEnabled(false);
    await visitor.page.setOfflineMode(true);
    await visitor.byMenu('Audit log');
    await visitor.sees('This page could not be loaded');
    assert.ok(await visitor.page.evaluate(() => 'isSame' in window), 'the tab has been loaded anew');
    await visitor.page.setOfflineMode(false);
    // Where the browser has not noticed by itself that there is a connection again.
    await visitor.page.evaluate(() => window.dispatchEvent(new Event('online'))).catch(() => undefined);
    await visitor.sees('Who changed what');
    await visitor.page.setCacheEnabled(true);
    visitor.complaints.length = 0;
  });

  it('is tried again by itself, with nothing that tells it of the connection', async () => {
    await visitor.go('/');
    // A tab is reloaded once a minute at most.
    await visitor.page.evaluate(() => sessionStorage.removeItem('platen-reloaded'));
    await visitor.page.setCacheEnabled(false);
    await visitor.page.setRequestInterception(true);
    let isAway = true;
    const answer = (request: HTTPRequest) =>
      isAway && new URL(request.url()).pathname.startsWith('/dashboard/')
        ? void request.abort('connectionfailed')
        : void request.continue();
    visitor.page.on('request', answer);
    await visitor.byMenu('Webhooks');
    await visitor.sees('This page could not be loaded');
    isAway = false;
    await visitor.sees('Signing keys');
    visitor.page.off('request', answer);
    await visitor.page.setRequestInterception(false);
    await visitor.page.setCacheEnabled(true);
    visitor.complaints.length = 0;
  });
});
