import assert from 'node:assert/strict';
import { checkEinvoice, type EinvoiceCall } from '../../../src/render/einvoice/check.ts';
import { PROFILE_NAMES, type ProfileName } from '../../../src/render/einvoice/profiles.ts';
import {
  CODED_TERMS,
  exampleInvoice,
  exampleXml,
  fullInvoice,
  invoiceOfCategory,
  kindsOfInvoices,
  withCode,
  xmlOfCodes,
} from '../../support/invoice.ts';

type Example = ReturnType<typeof exampleInvoice>;

/** What is wrong with an invoice; none when nothing is. */
function faultsOf(call: EinvoiceCall): readonly string[] {
  const checked = checkEinvoice(call);
  return 'faults' in checked ? checked.faults : [];
}

function faultsOfData(change: (invoice: Example) => unknown, profile: ProfileName = 'en16931') {
  const invoice = exampleInvoice();
  change(invoice);
  return faultsOfInvoice(invoice, profile);
}

function faultsOfInvoice(invoice: object, profile: ProfileName = 'en16931') {
  return faultsOf({ profile, data: JSON.stringify(invoice) });
}

function faultsOfXml(change: (xml: string) => string, profile: ProfileName = 'en16931') {
  const xml = change(exampleXml(profile));
  assert.ok(xml.length > 3_000_000 || xml !== exampleXml(profile), 'the change has changed something');
  return faultsOf({ profile, xml });
}

describe('e-invoices are checked', () => {
  for (const profile of PROFILE_NAMES) {
    it(`and written in the profile ${profile}, whose XML is accepted as it is`, () => {
      for (const data of [exampleInvoice(), fullInvoice(profile)]) {
        const xml = exampleXml(profile, data);
        assert.deepEqual(checkEinvoice({ profile, xml }), { xml });
        assert.match(xml, /Customer &amp; Sons &lt;Ärger&gt;/);
      }
    });
  }

  it('by each rule that computes, to the last digit', () => {
    const cases: [change: (invoice: Example) => unknown, expected: RegExp][] = [
      [
        (i) => (i.totals.lines = 265.01),
        /^BT-106 \(BR-CO-10\): is 265\.01, and the sum of BT-131 is 265\.00/,
      ],
      [(i) => (i.totals.allowances = 4.99), /^BT-107 \(BR-CO-11\): is 4\.99, and the sum of BT-92 is 5\.00/],
      [
        (i) => Object.assign(i.totals, { charges: 1 }),
        /^BT-108 \(BR-CO-12\): is 1\.00, and the sum of BT-99 is 0\.00/,
      ],
      [(i) => (i.totals.withoutVat = 259.99), /^BT-109 \(BR-CO-13\): is 259\.99/],
      [(i) => (i.totals.vat = 47.01), /^BT-110 \(BR-CO-14\): is 47\.01, and the sum of BT-117 is 47\.00/],
      [
        (i) => (i.totals.withVat = 307.01),
        /^BT-112 \(BR-CO-15\): is 307\.01, and BT-109 plus BT-110 is 307\.00/,
      ],
      [(i) => (i.totals.due = 306.99), /^BT-115 \(BR-CO-16\): is 306\.99/],
      [
        (i) => (i.vatBreakdown[1]!.amount = 1.41),
        /^BT-117 \(VAT category S, 7 %, BR-CO-17\): is 1\.41, and .* is 1\.40/,
      ],
      [(i) => (i.vatBreakdown[0]!.base = 240.01), /^BT-116 \(VAT category S, 19 %, BR-S-8\): is 240\.01/],
      [(i) => (i.lines[0]!.net = 45.01), /^BT-131 \(line 1, PEPPOL-EN16931-R120\): is 45\.01/],
      [
        (i) => (i.lines[0]!.net = 45.005),
        /^BT-131 \(line 1, BR-DEC\): is 45\.005, and amounts have at most two/,
      ],
    ];
    for (const [change, expected] of cases) {
      const faults = faultsOfData(change);
      assert.ok(
        faults.some((fault) => expected.test(fault)),
        `${expected}: ${faults.join('\n')}`,
      );
    }
  });

  it('by sums that binary numbers would get wrong', () => {
    const lines = Array.from({ length: 10 }, (_, i) => ({
      ...exampleInvoice().lines[0]!,
      ...{ id: `${i}`, quantity: 1, price: { net: '0.10' }, net: '0.10' },
    }));
    const totals = { lines: '1.00', withoutVat: '1.00', vat: '0.19', withVat: '1.19', due: '1.19' };
    const vatBreakdown = [{ base: '1.00', amount: '0.19', category: 'S', rate: 19 }];
    const { allowances: _, ...invoice } = exampleInvoice();
    assert.deepEqual(faultsOfInvoice({ ...invoice, lines, totals, vatBreakdown }), []);
  });

  it('by the codes and the terms that must be there', () => {
    const cases: [change: (invoice: Example) => unknown, expected: RegExp][] = [
      [(i) => (i.currency = 'EUX'), /^BT-5 \(BR-CL-04\): "EUX" is no currency/],
      [(i) => (i.currency = 'euro'), /^BT-5 \(currency\): must be a currency code/],
      [(i) => (i.seller.address.country = 'XY'), /^BT-40 \(BR-CL-14\): "XY" is no country/],
      [(i) => (i.seller.vatId = '123456789'), /^BT-31 \(BR-CO-9\): "123456789" does not begin/],
      [(i) => Object.assign(i, { typeCode: '999' }), /^BT-3 \(BR-CL-01\): "999" is no code/],
      [(i) => (i.issueDate = '2026-02-30'), /^BT-2 \(issueDate\): must be a date/],
      [(i) => Object.assign(i, { dueDate: undefined, paymentTerms: undefined }), /^BT-9 \(BR-CO-25\)/],
      [(i) => Object.assign(i.seller, { name: undefined }), /^BT-27 \(seller\.name\): is required/],
      [(i) => Object.assign(i.totals, { due: undefined }), /^BT-115 \(totals\.due\)/],
      [(i) => Object.assign(i.totals, { due: 'many' }), /^BT-115 \(totals\.due\): must be a number/],
      [
        (i) => Object.assign(i.lines[1]!, { vatCategory: 'X' }),
        /^BT-151 \(line 2, BR-CL-17\): "X" is no VAT category/,
      ],
      [
        (i) => Object.assign(i.lines[1]!, { vatRate: 20 }),
        /^BG-23 \(line 2, BR-S-1\): the VAT breakdown has no row/,
      ],
      [(i) => Object.assign(i.lines[1]!, { vatRate: undefined }), /^BT-152 \(line 2, BR-S-5\)/],
      [
        (i) => i.vatBreakdown.push({ base: 0, amount: 0, category: 'Z', rate: 0 }),
        /^BG-23 \(BR-Z-1\): there is a row of category Z, which no line/,
      ],
      [(i) => Object.assign(i.seller, { vatId: undefined }), /^BT-31 \(BR-S-2\)/],
      [(i) => Object.assign(i.payment, { transfers: [] }), /^BT-84 \(BR-61\)/],
      [(i) => Object.assign(i.allowances[0]!, { reason: undefined }), /^BT-97 \(BR-33\)/],
      [(i) => Object.assign(i, { period: { start: '2026-11-30', end: '2026-11-01' } }), /^BT-74 \(BR-29\)/],
      [(i) => Object.assign(i, { taxCurrency: 'CHF' }), /^BT-111 \(BR-53\): is required/],
      [(i) => Object.assign(i, { numbr: 1 }), /^numbr: is not known/],
      [(i) => Object.assign(i, { lines: undefined }), /^BG-25 \(lines\): is required by the profile en16931/],
      [(i) => Object.assign(i, { number: 'a\u0000' }), /^BT-1 \(number\): must hold only characters of XML/],
      [(i) => (i.lines[0]!.price.net = -4.5), /^BT-146 \(line 1, BR-27\): a price must not be negative/],
    ];
    for (const [change, expected] of cases) {
      const faults = faultsOfData(change);
      assert.ok(
        faults.some((fault) => expected.test(fault)),
        `${expected}: ${faults.join('\n')}`,
      );
    }
  });

  it('by the list of each code: the term and its rule are named, and nothing else is', () => {
    const xml = xmlOfCodes();
    assert.deepEqual(faultsOf({ profile: 'xrechnung', xml }), []);
    for (const [term, rule, path, wrong] of CODED_TERMS) {
      const [fault = '', ...others] = faultsOf({ profile: 'xrechnung', xml: withCode(xml, path, wrong) });
      assert.match(fault, new RegExp(`^${term} \\((line 1, )?${rule}\\): "${wrong}" is no .*, such as `));
      // What the code decides besides, such as whether an identifier of the seller is left.
      assert.ok(
        others.every((other) => !other.includes('BR-CL')),
        others.join('\n'),
      );
    }
  });

  it('by further media types and schemes in the extended profile alone', () => {
    const mediaType = (profile: 'extended' | 'en16931') =>
      faultsOf({
        profile,
        xml: withCode(
          exampleXml(profile, fullInvoice(profile)),
          'AttachmentBinaryObject@mimeCode',
          'text/xml',
        ),
      });
    assert.deepEqual(mediaType('extended'), []);
    assert.match(mediaType('en16931')[0]!, /^BT-125-1 \(BR-CL-24\): "text\/xml" is no media type/);
  });

  it('by the rules of categories without VAT', () => {
    const without = (category: string, more: object) => {
      const { allowances: _, ...invoice } = exampleInvoice();
      const rate = category === 'O' ? undefined : 0;
      return {
        ...invoice,
        lines: invoice.lines.map((line) => ({ ...line, vatCategory: category, vatRate: rate })),
        vatBreakdown: [
          { base: 265, amount: 0, category, rate, exemptionReason: 'Because of a law', ...more },
        ],
        totals: { lines: 265, withoutVat: 265, vat: 0, withVat: 265, due: 265 },
      };
    };
    for (const [name, data] of kindsOfInvoices()) assert.deepEqual(faultsOfInvoice(data), [], name);
    const buyer = { ...exampleInvoice().buyer, vatId: 'FR12345678901' };
    const delivery = { date: '2026-11-28', address: { country: 'FR' } };
    const { vatId: _, ...seller } = exampleInvoice().seller;
    for (const category of ['E', 'G']) assert.deepEqual(faultsOfInvoice(without(category, {})), [], category);
    assert.deepEqual(faultsOfInvoice({ ...without('O', {}), seller }), []);
    assert.match(faultsOfInvoice(without('O', {}))[0]!, /^BT-31 \(BR-O-2\): must be left out/);
    const numbered = { ...seller, taxNumber: '30/123/45678' };
    assert.deepEqual(faultsOfInvoice({ ...without('E', {}), seller: numbered }), []);
    assert.match(faultsOfInvoice({ ...without('G', {}), seller: numbered })[0]!, /^BT-31 \(BR-G-2\)/);
    assert.deepEqual(faultsOfInvoice({ ...without('AE', {}), buyer }), []);
    assert.deepEqual(faultsOfInvoice({ ...without('K', {}), buyer, delivery }), []);
    assert.match(faultsOfInvoice(without('AE', {}))[0]!, /^BT-48 \(BR-AE-2\)/);
    assert.match(faultsOfInvoice({ ...without('K', {}), buyer })[0]!, /^BT-80 \(BR-IC-12\)/);
    assert.match(faultsOfInvoice(without('E', { exemptionReason: undefined }))[0]!, /^BT-120 \(BR-E-10\)/);
    const unused = { base: 0, amount: 0, category: 'S', rate: 21 };
    assert.deepEqual(
      faultsOfData((invoice) => invoice.vatBreakdown.push(unused)),
      [],
    );
    assert.match(faultsOfInvoice(without('Z', {}))[0]!, /^BT-120 \(BR-Z-10\): category Z has no reason/);
    const split = invoiceOfCategory('B');
    assert.deepEqual(faultsOfInvoice(split), [
      'BT-151 (BR-B-1): category B (split payment) is for Italian invoices alone',
    ]);
    const italian = <T extends { address: object }>(party: T) => ({
      ...party,
      address: { ...party.address, country: 'IT' },
    });
    const parties = { seller: italian(split.seller), buyer: italian(split.buyer) };
    assert.deepEqual(faultsOfInvoice({ ...split, ...parties }), []);
    const lines = split.lines.map((line, i) => (i === 2 ? { ...line, vatCategory: 'S' } : line));
    const vatBreakdown = ['B', 'S'].map((category, i) => ({
      ...{ category, rate: 7 },
      ...(i === 0 ? { base: 245, amount: 17.15 } : { base: 20, amount: 1.4 }),
    }));
    assert.deepEqual(faultsOfInvoice({ ...split, ...parties, lines, vatBreakdown }), [
      'BG-23 (BR-B-2): category B does not go together with category S',
    ]);
  });

  it('with the lines and charges that only the extended profile has', () => {
    const tax = '<ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode>';
    const service =
      '<ram:SpecifiedLogisticsServiceCharge><ram:Description>Freight</ram:Description><ram:AppliedAmount>10.00</ram:AppliedAmount>' +
      `<ram:AppliedTradeTax>${tax}<ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:AppliedTradeTax></ram:SpecifiedLogisticsServiceCharge>`;
    const charged = (line: (xml: string) => string) => (xml: string) =>
      line(xml)
        .replace('<ram:SpecifiedTradePaymentTerms>', `${service}$&`)
        .replace('<ram:AllowanceTotalAmount>', '<ram:ChargeTotalAmount>10.00</ram:ChargeTotalAmount>$&')
        .replace('>260.00</ram:TaxBasis', '>270.00</ram:TaxBasis')
        .replace('>45.60</ram:Calc', '>47.50</ram:Calc')
        .replace('>240.00</ram:Basis', '>250.00</ram:Basis')
        .replace('>47.00</ram:TaxTotal', '>48.90</ram:TaxTotal')
        .replace('>307.00</ram:Grand', '>318.90</ram:Grand')
        .replace('>307.00</ram:Due', '>318.90</ram:Due');
    assert.deepEqual(
      faultsOfXml(
        charged((xml) => xml),
        'extended',
      ),
      [],
    );
    const informs = (xml: string) => {
      const [first = ''] =
        /<ram:IncludedSupplyChainTradeLineItem>.*?<\/ram:IncludedSupplyChainTradeLineItem>/s.exec(xml) ?? [];
      const status =
        '</ram:LineID><ram:LineStatusCode>1</ram:LineStatusCode><ram:LineStatusReasonCode>INFORMATION</ram:LineStatusReasonCode>';
      return xml.replace(
        first,
        first + first.replace('</ram:LineID>', status).replace('>1</ram:LineID>', '>4</ram:LineID>'),
      );
    };
    assert.deepEqual(faultsOfXml(charged(informs), 'extended'), []);
  });

  it('by the rules of XRechnung', () => {
    const cases: [change: (invoice: Example) => unknown, expected: RegExp][] = [
      [(i) => Object.assign(i, { buyerReference: undefined }), /^BT-10 \(BR-DE-15\)/],
      [(i) => (i.buyerReference = '04011000-12345-04'), /^BT-10: the check digits of the Leitweg-ID/],
      [(i) => Object.assign(i.seller, { contact: undefined }), /^BG-6 \(BR-DE-2\)/],
      [(i) => (i.seller.contact.phone = '1-2'), /^BT-42 \(BR-DE-27\)/],
      [(i) => (i.seller.contact.email = 'ada'), /^BT-43 \(BR-DE-28\)/],
      [(i) => Object.assign(i.seller.address, { city: undefined }), /^BT-37 \(BR-DE-3\)/],
      [(i) => Object.assign(i.buyer.address, { postCode: undefined }), /^BT-53 \(BR-DE-9\)/],
      [(i) => Object.assign(i.buyer, { electronicAddress: undefined }), /^BT-49 \(PEPPOL-EN16931-R010\)/],
      [(i) => Object.assign(i, { payment: undefined }), /^BG-16 \(BR-DE-1\)/],
      [(i) => (i.payment.transfers[0]!.iban = 'DE02120300000000202052'), /^BT-84 \(BR-DE-19\)/],
      [(i) => Object.assign(i, { typeCode: '386' }), /^BT-3 \(BR-DE-17\)/],
      [(i) => Object.assign(i, { typeCode: '384' }), /^BG-3 \(BR-DE-26\)/],
      [(i) => (i.paymentTerms = '#SKONTO#TAGE=7#PROZENT=2#'), /^BT-20 \(BR-DE-18\)/],
    ];
    for (const [change, expected] of cases) {
      const faults = faultsOfData(change, 'xrechnung');
      assert.ok(
        faults.some((fault) => expected.test(fault)),
        `${expected}: ${faults.join('\n')}`,
      );
      if (!/BT-(3|84|20)|BG-3/.test(expected.source)) assert.deepEqual(faultsOfData(change), []);
    }
  });

  it('as XML by its profile, its schema and its kind', () => {
    const profileOf = faultsOf({ profile: 'basic', xml: exampleXml('en16931') });
    assert.match(profileOf[0]!, /^BT-24: is "urn:cen\.eu:en16931:2017", and the profile basic has/);
    assert.equal(profileOf.length, 1);
    const wrongType = faultsOf({
      profile: 'en16931',
      xml: exampleXml('en16931'),
      documentType: 'creditNote',
    });
    assert.deepEqual(wrongType, ['BT-3: is "380", and documentType creditNote has 381']);
    const credit = checkEinvoice({
      ...{ profile: 'en16931', documentType: 'creditNote' },
      data: JSON.stringify(exampleInvoice()),
    });
    assert.match('xml' in credit ? credit.xml : '', /<ram:TypeCode>381</);
    const cases: [change: (xml: string) => string, expected: RegExp][] = [
      [
        (x) => x.replace(/<ram:DuePayableAmount>.*\n/, ''),
        /^BT-115 \(line \d+ of the XML\): .*Missing child/,
      ],
      [
        (x) => x.replace('>307.00</ram:Due', '>many</ram:Due'),
        /^BT-115 \(line \d+ of the XML\): .*'many' is not a valid value/,
      ],
      [
        (x) => x.replace('<ram:TypeCode>380', '<ram:Colour/><ram:TypeCode>380'),
        /line \d+ of the XML.*Colour.*not expected/,
      ],
      [(x) => x.replaceAll('CrossIndustryInvoice', 'CrossIndustryOrder'), /must be a CrossIndustryInvoice/],
      [
        () => '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>',
        /must be a CrossIndustryInvoice .* its root is "Invoice"/,
      ],
      [(x) => x.replace('UTF-8', 'ISO-8859-1'), /must be in UTF-8/],
      [(x) => x.replace('>20261130<', '>20260230<'), /^BT-2: "20260230" is no date/],
      [(x) => x.slice(0, -20), /the XML cannot be read/],
    ];
    for (const [change, expected] of cases) {
      const faults = faultsOfXml(change);
      assert.ok(
        faults.some((fault) => expected.test(fault)),
        `${expected}: ${faults.join('\n')}`,
      );
    }
  });

  it('in sentences that stay short, whatever the invoice has as identifiers and codes', () => {
    const faults = faultsOfXml((xml) =>
      xml
        .replace('<ram:LineID>1<', `<ram:LineID>${'1'.repeat(300_000)}<`)
        .replace('unitCode="C62"', `unitCode="${'x'.repeat(300_000)}"`)
        .replace('<ram:CategoryCode>S<', `<ram:CategoryCode>${'S'.repeat(300_000)}<`),
    );
    assert.deepEqual(
      faults.map((fault) => fault.split(' ')[0]),
      ['BT-130', 'BT-151', 'BT-116'],
    );
    for (const fault of faults) assert.ok(fault.length < 400, `${fault.length} characters`);
  });

  it('and refused where they attack: entities, external files, size, depth', () => {
    const entity = (declared: string) => (xml: string) =>
      xml.replace('?>', `?><!DOCTYPE x [${declared}]>`).replace('2026-0066', '&a;');
    const bomb = Array.from({ length: 20 }, (_, i) => `<!ENTITY a${i} "&a${i + 1};&a${i + 1};">`).join('');
    for (const declared of [`<!ENTITY a SYSTEM "file:///etc/passwd">`, `${bomb}<!ENTITY a "&a0;">`])
      assert.deepEqual(faultsOfXml(entity(declared)), [
        'the XML must have no DOCTYPE and no entities of its own',
      ]);
    const large = faultsOfXml((xml) => xml.replace('2026-0066', 'x'.repeat(2 * 1024 * 1024)));
    assert.match(large[0]!, /^the XML has 21\d{5} bytes, and may have 1048576/);
    const deep = faultsOfXml((xml) => xml.replace('2026-0066', '<ram:a>'.repeat(50_000)));
    assert.match(deep[0]!, /^the XML cannot be read: .*depth/i);
    const many = faultsOfXml((xml) =>
      xml.replace('<ram:TypeCode>380', `${'<ram:X/>'.repeat(100_000)}<ram:TypeCode>380`),
    );
    assert.ok(many.length >= 1 && many.length <= 20, `${many.length}`);
    assert.match(faultsOf({ profile: 'minimum', xml: 'x' })[0]!, /^the XML cannot be read/);
    assert.match(faultsOf({ profile: 'minimum', data: '[1]' })[0]!, /^\(the data\): /);
  });
});
