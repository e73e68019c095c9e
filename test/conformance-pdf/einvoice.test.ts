import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { PROFILE_NAMES, type ProfileName, profileOf } from '../../src/render/einvoice/profiles.ts';
import type { RenderOptions } from '../../src/render/options/all/render-options.ts';
import { createPdfFinisher } from '../../src/render/pdf/finish.ts';
import { createPdfMerger } from '../../src/render/pdf/merge.ts';
import { type Bench, render, startBench } from '../integration/chromium/support.ts';
import { readByOthers } from '../options/support/other-readers.ts';
import { HUNG_MS } from '../support/eventually.ts';
import { exampleInvoice, exampleXml, fullInvoice, kindsOfInvoices } from '../support/invoice.ts';
import { judgedInvoices } from './support/mustang.ts';
import { Sealer } from './support/sealer.ts';
import { corpusDocument, type Judged, violations } from './support/verapdf.ts';

/** Every profile, in place of the one with the most rules, and veraPDF by itself (`make conformance-pdf`): each takes ten seconds. */
const ALL = process.env.CONFORMANCE === 'all';
const PROFILES: readonly ProfileName[] = ALL ? PROFILE_NAMES : ['xrechnung'];

/** Each profile with every term that it has, which is sealed then, and with a few. */
const KINDS = PROFILES.flatMap((profile) => [
  { profile, isFull: true },
  ...(ALL ? [{ profile, isFull: false }] : []),
]);

describe('e-invoices', function () {
  this.timeout(ALL ? 20 * HUNG_MS : 4 * HUNG_MS);
  let bench: Bench;
  before(async () => {
    bench = await startBench();
  });
  after(() => bench?.close());

  it(`are valid in the eyes of Mustang, which asks veraPDF as well: ${PROFILES.join(', ')}`, async () => {
    const html = await corpusDocument('invoice');
    const printed: (Judged & { readonly profile: ProfileName; readonly xml: string })[] = [];
    const sealer = await Sealer.open();
    for (const { profile, isFull } of KINDS) {
      const xml = exampleXml(profile, isFull ? fullInvoice(profile) : exampleInvoice());
      const options: RenderOptions = {
        einvoice: { profile, xml },
        ...(isFull && { conformance: { pdfua: true, pdfa: '3a' }, seal: Sealer.OPTION }),
      };
      const { bytes } = await render(bench, html, options);
      const name = `${profile}${isFull ? ', full and sealed' : ''}`;
      const pdf = isFull ? await sealer.seal(bytes, name) : bytes;
      printed.push({ name, bytes: pdf, profile, xml, flavours: isFull ? ['3a', 'ua1'] : ['3b'] });
    }
    await sealer.close();
    for (const { bytes, profile, xml } of printed) {
      const { attachments, problems } = await readByOthers({ bytes, password: undefined });
      assert.deepEqual(problems, []);
      const { fileName, relationship } = profileOf(profile);
      assert.deepEqual(
        attachments.map(({ name, relationship, size }) => [name, relationship, size]),
        [[fileName, `/${relationship}`, Buffer.byteLength(xml)]],
      );
    }
    if (ALL) assert.deepEqual(await violations(printed), []);
    assert.deepEqual(
      await judgedInvoices(printed),
      printed.map(({ name }) => `${name}: valid`),
    );
  });

  it('are none once they are merged: the PDF has the pages of several, and claims to be archived alone', async () => {
    const xml = exampleXml('en16931');
    const options: RenderOptions = { einvoice: { profile: 'en16931', xml } };
    const { bytes } = await render(bench, '<title>One of two</title><p>x', options);
    const source = { title: 'Invoice', bytes: bytes.length, read: async () => bytes };
    const merger = createPdfMerger({ memoryBytes: 1024 ** 3 });
    const finisher = createPdfFinisher({ processes: 1 });
    try {
      const { signal } = new AbortController();
      const merged = await buffer(merger.merge([source, source], { account: 'a', signal }));
      const { claims, checks } = await finisher.validate(merged);
      assert.deepEqual(claims, { pdfa: '3b', pdfua: null, einvoice: null });
      assert.equal(checks.find(({ check }) => check === 'pdfa')?.outcome, 'passed');
      const { attachments, associated, problems } = await readByOthers({
        bytes: merged,
        password: undefined,
      });
      assert.deepEqual(
        { attachments, associated, problems },
        { attachments: [], associated: [], problems: [] },
      );
      if (ALL) assert.deepEqual(await violations([{ name: 'merged', bytes: merged, flavours: ['3b'] }]), []);
    } finally {
      await merger.close();
      await finisher.close();
    }
  });

  if (ALL)
    it('are valid as XML for each VAT category and each kind of payment', async () => {
      const written = [...kindsOfInvoices()].map(([name, data]) => ({
        name,
        bytes: Buffer.from(exampleXml('en16931', data)),
      }));
      assert.ok(written.length >= 12);
      assert.deepEqual(
        await judgedInvoices(written),
        written.map(({ name }) => `${name}: valid`),
      );
    });

  if (ALL)
    it('are none in the eyes of Mustang where a sum is wrong, so that the judge is one', async () => {
      const xml = exampleXml('en16931').replace('>307.00</ram:Grand', '>308.00</ram:Grand');
      const options: RenderOptions = { einvoice: { profile: 'en16931', xml } };
      const { bytes } = await render(bench, '<title>x</title><p>x', options);
      const [verdict = ''] = await judgedInvoices([{ name: 'wrong', bytes }]);
      assert.match(verdict, /^wrong: invalid: .*BR-CO-15/s);
    });
});
