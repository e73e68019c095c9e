import { assertAlike, readDocuments } from './fixture-documents.ts';
import { render, useBench } from './support.ts';

describe('the report of a render', () => {
  const bench = useBench();

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
