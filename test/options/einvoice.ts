import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { exampleInvoice, exampleXml } from '../support/invoice.ts';
import type { OptionCases } from './support/cases.ts';
import { readByOthers } from './support/other-readers.ts';

const invoice = (more: object = {}) => ({ einvoice: { profile: 'en16931', data: { number: '1' }, ...more } });
const XML = exampleXml('en16931');

export const cases: OptionCases = {
  accepted: [
    ...['minimum', 'basicwl', 'basic', 'en16931', 'extended', 'xrechnung'].map((profile) => ({ profile })),
    { profile: 'en16931', xml: '<x/>', documentType: 'creditNote' },
    { ...invoice(), conformance: { pdfua: true } },
    { ...invoice(), conformance: { pdfa: '3a' }, attachments: [{ name: 'order.xml', content: '' }] },
  ],
  refused: [
    [invoice({ profile: 'comfort' }), 'einvoice.profile', /must be one of minimum, basicwl, basic, en16931/],
    [{ einvoice: { data: {} } }, 'einvoice.profile', /must be one of|is required/],
    [invoice({ documentType: 'order' }), 'einvoice.documentType', /must be one of invoice, creditNote/],
    [invoice({ xml: '<x/>' }), 'einvoice', /must have either xml or data, such as/],
    [invoice({ data: [] }), 'einvoice.data', /must be/],
    [invoice({ data: undefined, xml: '' }), 'einvoice.xml', /at least 1 character/],
    [
      invoice({ data: undefined, xml: 'x'.repeat(1024 * 1024 + 1) }),
      'einvoice.xml',
      /at most 1048576 characters/,
    ],
    [invoice({ schema: 'x' }), 'einvoice.schema', /is not known/],
    [{ ...invoice(), protection: { userPassword: 'a' } }, 'einvoice', /must not be given with protection/],
    [{ ...invoice(), conformance: { pdfa: '2b' } }, 'einvoice', /another part of PDF\/A than the third/],
    [{ ...invoice(), conformance: { pdfa: '4' } }, 'einvoice', /another part of PDF\/A than the third/],
    [
      { ...invoice(), attachments: [{ name: 'Factur-X.xml', content: '' }] },
      'einvoice',
      /must not be given with an attachment that is named factur-x\.xml/,
    ],
    [invoice({ data: undefined }), 'einvoice', /needs data or xml, since the input is no template/],
  ],
  effects: [
    {
      title: 'the invoice is in the PDF as XML, behind other files, and the PDF declares it',
      html: '<title>beside others</title><p>x',
      options: {
        einvoice: { profile: 'en16931', data: exampleInvoice(), documentType: 'invoice' },
        attachments: [{ name: 'hours.csv', content: 'YQ==' }],
      },
      proof: async (printed) => {
        const { attachments, associated } = await readByOthers(printed);
        assert.deepEqual(associated, ['hours.csv', 'factur-x.xml']);
        const { name, type, relationship, sha256, intact } = attachments.find((a) => a.name !== 'hours.csv')!;
        assert.deepEqual(
          { name, type, relationship, intact, sha256 },
          {
            ...{ name: 'factur-x.xml', type: 'text/xml', relationship: '/Alternative', intact: true },
            sha256: createHash('sha256').update(XML).digest('hex'),
          },
        );
        const { xmp = '' } = printed;
        assert.match(xmp, /<fx:ConformanceLevel>EN 16931</);
        assert.match(xmp, /<fx:DocumentFileName>factur-x\.xml</);
        assert.match(xmp, /<pdfaid:part>3<.*\s*<pdfaid:conformance>B</);
      },
    },
    {
      title: 'XML that was sent is in the PDF byte for byte, under the name of its profile',
      html: '<p>x',
      options: { einvoice: { profile: 'xrechnung', xml: exampleXml('xrechnung') } },
      others: { conformance: { pdfa: '3a', onFault: 'report' }, watermark: { text: 'COPY' }, delayMs: 20 },
      proof: ({ attachments, xmp = '' }) => {
        const [file] = attachments;
        assert.equal(file?.name, 'xrechnung.xml');
        assert.equal(Buffer.from(file.content).toString(), exampleXml('xrechnung'));
        assert.match(xmp, /<fx:ConformanceLevel>XRECHNUNG</);
      },
    },
  ],
};
