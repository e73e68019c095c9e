import assert from 'node:assert/strict';
import { openNewVisitor } from './support/signed-in.ts';
import type { Visitor } from './support/visitor.ts';

describe('What a browser loads of the dashboard', () => {
  let visitor: Visitor;

  before(async () => {
    visitor = await openNewVisitor();
  });
  after(() => visitor?.close());

  it('is at most 170 kB, compressed and with its typeface, before the first page is there', async () => {
    await visitor.page.setCacheEnabled(false);
    await visitor.go('/');
    const sizes = await visitor.page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
        .filter(({ name }) => name.includes('/dashboard/assets/'))
        .map(({ encodedBodySize }) => encodedBodySize),
    );
    await visitor.page.setCacheEnabled(true);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(await visitor.page.evaluate(() => document.fonts.check('500 16px Inter')));
    assert.ok(sizes.length > 3 && total <= 170_000, `${total} bytes`);
  });

  it('is at most 320 kB more for an editor', async () => {
    await visitor.go('/');
    const size = () =>
      visitor.page.evaluate(() =>
        (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
          .filter(({ name }) => name.includes('/dashboard/'))
          .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      );
    const first = await size();
    await visitor.page.locator('.side a ::-p-text(Playground)').click();
    await visitor.page.waitForSelector('code-editor');
    await visitor.page.waitForNetworkIdle({ concurrency: 1 });
    const more = (await size()) - first;
    assert.ok(more > 50_000 && more <= 320_000, `${more} bytes`);
  });
});
