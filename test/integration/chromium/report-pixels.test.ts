import { assertAlike, readDocuments } from './fixture-documents.ts';
import { type Bench, render, startBench } from './support.ts';

describe('the report of a render', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
  });
  after(() => bench.close());

  for (const [name, html] of readDocuments()) {
    it(`changes nothing of what is printed: ${name}`, async () => {
      const options = { preferCSSPageSize: true };
      const [plain, reported] = [
        await render(bench, html, options),
        await render(bench, html, { ...options, report: true }),
      ];
      await assertAlike(reported.bytes, plain.bytes, 'with a report and without');
    });
  }
});
