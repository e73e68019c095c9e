import assert from 'node:assert/strict';
import type { RenderOptions } from '../../src/render/options/all/render-options.ts';
import { createPdfFinisher, type PdfFinisher } from '../../src/render/pdf/finish.ts';
import { HUNG_MS } from '../support/eventually.ts';
import { exampleXml } from '../support/invoice.ts';
import { converted, sentFixture } from '../support/sent-fixture.ts';
import { judgedInvoices } from './support/mustang.ts';
import { Sealer } from './support/sealer.ts';
import { type Judged, violations } from './support/verapdf.ts';

describe('PDFs of other producers', function () {
  this.timeout(4 * HUNG_MS);
  let finisher: PdfFinisher;
  before(() => {
    finisher = createPdfFinisher({ processes: 1 });
  });
  after(() => finisher?.close());

  it('conform to PDF/A-2b and PDF/A-3b in the eyes of veraPDF, also with a seal and the mark of a test key', async () => {
    const sealer = await Sealer.open();
    const judged: Judged[] = [];
    for (const [name, pdfa, more] of [
      ['reportlab', '2b', { metadata: { title: 'Contract' } }],
      ['reportlab', '3b', { seal: Sealer.OPTION }],
      ['weasyprint', '2b', { watermark: { text: 'TEST' } }],
      ['weasyprint', '3b', { attachments: [{ name: 'a.csv', type: 'text/csv', content: 'YTti' }] }],
      ['fpdf2-file', '3b', {}],
    ] as const) {
      const options: RenderOptions = { conformance: { pdfa }, ...(more as RenderOptions) };
      const { bytes } = await converted(finisher, await sentFixture(name), options);
      if (options.seal) await sealer.seal(bytes, name);
      const { checks } = await finisher.validate(bytes);
      const failed = checks.filter(({ outcome }) => outcome === 'failed' || outcome === 'notChecked');
      assert.deepEqual(failed, [], name);
      judged.push({ name: `${name} ${JSON.stringify(options)}`, bytes, flavours: [pdfa] });
    }
    await sealer.close();
    assert.deepEqual(await violations(judged), []);
  });

  it('become e-invoices that are valid in the eyes of Mustang', async () => {
    const xml = exampleXml('en16931');
    const options: RenderOptions = { einvoice: { profile: 'en16931', xml } };
    const { bytes } = await converted(finisher, await sentFixture('reportlab'), options);
    assert.deepEqual(await judgedInvoices([{ name: 'reportlab', bytes }]), ['reportlab: valid']);
  });
});
