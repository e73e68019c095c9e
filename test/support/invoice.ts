import { checkEinvoice } from '../../src/render/einvoice/check.ts';
import type { ProfileName } from '../../src/render/einvoice/profiles.ts';

/** An invoice of two VAT rates with an allowance, with what XRechnung asks for as well. */
export function exampleInvoice() {
  return {
    number: '2026-0066',
    issueDate: '2026-11-30',
    dueDate: '2026-12-30',
    currency: 'EUR',
    buyerReference: '04011000-12345-03',
    purchaseOrderReference: 'PO-7',
    paymentTerms: 'Payable within 30 days.',
    notes: [{ text: 'Thank you for your order.' }],
    seller: {
      name: 'Example Ltd',
      vatId: 'DE123456789',
      registration: { id: 'HRB 12345' },
      electronicAddress: { id: 'invoices@seller.example', scheme: 'EM' },
      address: { line1: 'Main Street 1', city: 'Berlin', postCode: '10115', country: 'DE' },
      contact: { name: 'Ada Example', phone: '+49 30 123456', email: 'ada@seller.example' },
    },
    buyer: {
      name: 'Customer & Sons <Ärger>',
      electronicAddress: { id: 'invoices@buyer.example', scheme: 'EM' },
      address: { line1: 'Side Street 2', city: 'Hamburg', postCode: '20095', country: 'DE' },
    },
    delivery: { date: '2026-11-28' },
    payment: {
      meansCode: '58',
      transfers: [{ iban: 'DE02120300000000202051', accountName: 'Example Ltd', bic: 'BYLADEM1001' }],
    },
    lines: [
      line('1', 'Paper', { quantity: 10, price: { net: 4.5 }, net: 45 }),
      line('2', 'Advice', { quantity: 2.5, unit: 'HUR', price: { net: '80.00' }, net: 200 }),
      line('3', 'Book', { quantity: 1, price: { net: 20 }, net: 20, vatRate: 7 }),
    ],
    allowances: [{ amount: 5, vatCategory: 'S', vatRate: 19, reason: 'Regular customer' }],
    vatBreakdown: [
      { base: 240, amount: 45.6, category: 'S', rate: 19 },
      { base: 20, amount: 1.4, category: 'S', rate: 7 },
    ],
    totals: { lines: 265, allowances: 5, withoutVat: 260, vat: 47, withVat: 307, due: 307 },
  };
}

function line(
  id: string,
  name: string,
  more: { quantity: number; price: { net: number | string }; net: number; unit?: string; vatRate?: number },
) {
  return { id, name, unit: 'C62', vatCategory: 'S', vatRate: 19, ...more };
}

/** An invoice of many lines of 10 each. */
export function invoiceOfLines(count: number) {
  const { allowances: _, ...invoice } = exampleInvoice();
  const lines = Array.from({ length: count }, (_, i) =>
    line(`${i + 1}`, 'Paper', { quantity: 1, price: { net: 10 }, net: 10 }),
  );
  const [base, amount] = [10 * count, Math.round(190 * count) / 100];
  const totals = { lines: base, withoutVat: base, vat: amount, withVat: base + amount, due: base + amount };
  return { ...invoice, lines, totals, vatBreakdown: [{ base, amount, category: 'S', rate: 19 }] };
}

/** The XML of an invoice. @throws Error with what is wrong with it. */
export function exampleXml(profile: ProfileName, data: object = exampleInvoice()): string {
  const checked = checkEinvoice({ profile, data: JSON.stringify(data) });
  if ('xml' in checked) return checked.xml;
  throw new Error(checked.faults.join('\n'));
}

/** An invoice of one VAT category, at the rate that it has; with a reason where it wants one. */
export function invoiceOfCategory(category: string) {
  const { allowances: _, ...invoice } = exampleInvoice();
  const isRated = ['L', 'B'].includes(category);
  const rate = category === 'O' ? undefined : isRated ? 7 : 0;
  const vat = isRated ? 18.55 : 0;
  const reason = !isRated && category !== 'Z' && { exemptionReason: 'Because of a law' };
  return {
    ...invoice,
    lines: invoice.lines.map((each) => ({ ...each, vatCategory: category, vatRate: rate })),
    vatBreakdown: [{ base: 265, amount: vat, category, rate, ...reason }],
    totals: { lines: 265, withoutVat: 265, vat, withVat: 265 + vat, due: 265 + vat },
  };
}

/** Invoices of each VAT category and each kind of payment, by name. */
export function kindsOfInvoices(): ReadonlyMap<string, object> {
  const { dueDate: _due, paymentTerms: _terms, ...example } = exampleInvoice();
  const { vatId: _vatId, ...seller } = example.seller;
  const buyer = { ...example.buyer, vatId: 'FR12345678901' };
  const delivery = { date: '2026-11-28', address: { country: 'FR' } };
  const iban = 'DE02120300000000202051';
  return new Map<string, object>([
    ...['E', 'G', 'Z', 'L'].map((category) => [category, invoiceOfCategory(category)] as const),
    ['O', { ...invoiceOfCategory('O'), seller }],
    ['AE', { ...invoiceOfCategory('AE'), buyer }],
    ['K', { ...invoiceOfCategory('K'), buyer, delivery }],
    ['credit note', { ...exampleInvoice(), typeCode: '381' }],
    ['prepaid', { ...example, totals: { ...example.totals, prepaid: 307, due: 0 } }],
    ['card', { ...exampleInvoice(), payment: { meansCode: '48', card: { number: '1234' } } }],
    [
      'direct debit',
      {
        ...exampleInvoice(),
        payment: { meansCode: '59', directDebit: { mandate: 'M', creditor: 'C', iban } },
      },
    ],
    ['tax point', { ...exampleInvoice(), taxPointCode: '35' }],
  ]);
}

/** An invoice with every business term of EN 16931 that goes with the others. */
export function fullInvoice(profile: ProfileName) {
  // Two profiles have no amount by which the payment is rounded.
  const rounding =
    profile === 'basicwl' || profile === 'basic' ? { due: 300.28 } : { rounding: -0.28, due: 300 };
  const { lines, ...invoice } = exampleInvoice();
  const [first, ...others] = lines;
  const person = { name: 'Grace', phone: '+49 40 7654321', email: 'grace@buyer.example' };
  const address = (country: string) => ({
    ...{ line1: 'Street 1', line2: 'Yard', line3: 'Floor 2', city: 'Town', postCode: '12345' },
    ...{ subdivision: 'Region', country },
  });
  return {
    ...invoice,
    ...{ typeCode: '380', taxCurrency: 'CHF', taxPointDate: '2026-11-28', projectReference: 'P-1' },
    ...{ contractReference: 'C-1', salesOrderReference: 'S-1', receivingAdviceReference: 'R-1' },
    ...{ despatchAdviceReference: 'D-1', tenderReference: 'T-1', accountingReference: 'A-1' },
    objectIdentifier: { id: 'O-1', scheme: 'ABZ' },
    notes: [{ text: 'A note.\nIts second line.', subject: 'AAI' }, { text: 'Another' }],
    businessProcess: 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0',
    precedingInvoices: [{ number: '2026-0001', issueDate: '2026-01-31' }, { number: '2026-0002' }],
    seller: {
      ...invoice.seller,
      ...{ tradingName: 'Example', taxNumber: '30/123/45678', legalInformation: 'Director: Ada Example' },
      identifiers: [{ id: '4000001000005', scheme: '0088' }],
      address: address('DE'),
    },
    buyer: {
      ...invoice.buyer,
      ...{ tradingName: 'C & S', vatId: 'DE987654321', address: address('DE'), contact: person },
      identifier: { id: 'K-7' },
      registration: { id: 'HRB 7' },
    },
    payee: { name: 'Factor Ltd', identifier: { id: 'F-1' }, registration: { id: 'HRB 9' } },
    taxRepresentative: { name: 'Tax Ltd', vatId: 'FR12345678901', address: address('FR') },
    delivery: {
      ...{ name: 'Warehouse', date: '2026-11-28', address: address('AT') },
      location: { id: '4000001000012', scheme: '0088' },
    },
    period: { start: '2026-11-01', end: '2026-11-30' },
    payment: {
      ...{ meansCode: '58', meansText: 'SEPA credit transfer', remittance: 'INV 66' },
      transfers: [
        { iban: 'DE02120300000000202051', accountName: 'Example Ltd', bic: 'BYLADEM1001' },
        { iban: 'FR1420041010050500013M02606' },
      ],
    },
    allowances: [{ ...invoice.allowances[0], base: 100, percent: 5, reasonCode: '95' }],
    charges: [
      {
        amount: 10,
        base: 100,
        percent: 10,
        vatCategory: 'S',
        vatRate: 19,
        reason: 'Freight',
        reasonCode: 'FC',
      },
    ],
    supportingDocuments: [
      { reference: 'X-1', description: 'Hours', location: 'https://seller.example/hours' },
      { reference: 'X-2', file: { content: 'YSxi', type: 'text/csv', name: 'hours.csv' } },
    ],
    lines: [
      {
        ...first,
        ...{ note: 'A line', orderLine: '10', accountingReference: 'A-2', net: 47, description: 'White' },
        ...{ sellerItemId: 'P-10', buyerItemId: 'B-10', originCountry: 'SE' },
        objectIdentifier: { id: 'O-2', scheme: 'ABZ' },
        period: { start: '2026-11-01', end: '2026-11-15' },
        price: { net: 9, gross: 10, discount: 1, baseQuantity: 2, baseUnit: 'C62' },
        allowances: [{ amount: 1, base: 10, percent: 10, reason: 'Scratched', reasonCode: '95' }],
        charges: [{ amount: 3, base: 30, percent: 10, reason: 'Wrapped', reasonCode: 'FC' }],
        standardItemId: { id: '4000001000029', scheme: '0160' },
        classifications: [{ code: '14111507', scheme: 'STI', version: '20.1' }],
        attributes: [{ name: 'Colour', value: 'white' }],
      },
      ...others,
    ],
    vatBreakdown: [
      { base: 252, amount: 47.88, category: 'S', rate: 19 },
      { base: 20, amount: 1.4, category: 'S', rate: 7 },
    ],
    totals: {
      ...{ lines: 267, allowances: 5, charges: 10, withoutVat: 272, vat: 49.28, vatInTaxCurrency: 46.2 },
      ...{ withVat: 321.28, prepaid: 21, ...rounding },
    },
  };
}

/** The full invoice of XRechnung as XML, with a code in every term of EN 16931 that has one. */
export function xmlOfCodes(): string {
  const { taxPointDate: _, seller, buyer, payee, delivery, vatBreakdown, ...full } = fullInvoice('xrechnung');
  const coded = <T extends object>(identifier: T) => ({ ...identifier, scheme: '0002' });
  const registered = <T extends { registration: object }>(party: T) => ({
    ...party,
    registration: coded(party.registration),
  });
  const lines = full.lines.map((each) =>
    each.id === '3' ? { ...each, vatCategory: 'E', vatRate: 0 } : each,
  );
  const exempt = { base: 20, amount: 0, category: 'E', rate: 0, exemptionReasonCode: 'VATEX-EU-132' };
  return exampleXml('xrechnung', {
    ...full,
    taxPointCode: '35',
    seller: registered(seller),
    buyer: { ...registered(buyer), identifier: coded(buyer.identifier) },
    payee: { ...registered(payee), identifier: coded(payee.identifier) },
    delivery: { ...delivery, location: coded(delivery.location) },
    lines,
    vatBreakdown: [vatBreakdown[0], exempt],
    totals: { ...full.totals, vat: 47.88, withVat: 319.88, due: 298.6 },
  });
}

/** Every term that has a code, with the rule of its list; where it is in that XML; and a code that another list has. */
export const CODED_TERMS: readonly (readonly [term: string, rule: string, path: string, wrong: string])[] = [
  ['BT-3', 'BR-CL-01', 'TypeCode', '999'],
  ['BT-5', 'BR-CL-04', 'InvoiceCurrencyCode', 'DEM'],
  ['BT-6', 'BR-CL-05', 'TaxCurrencyCode', 'XXY'],
  ['BT-8', 'BR-CL-06', 'DueDateTypeCode', '35'],
  ['BT-18-1', 'BR-CL-07', 'ApplicableHeaderTradeAgreement ReferenceTypeCode', '130'],
  ['BT-21', 'BR-CL-08', 'SubjectCode', 'XYZ'],
  ['BT-29-1', 'BR-CL-10', 'SellerTradeParty GlobalID@schemeID', 'EM'],
  ['BT-30-1', 'BR-CL-11', 'SellerTradeParty SpecifiedLegalOrganization ID@schemeID', '9930'],
  ['BT-34-1', 'BR-CL-25', 'SellerTradeParty URIUniversalCommunication URIID@schemeID', '0003'],
  ['BT-40', 'BR-CL-14', 'SellerTradeParty CountryID', 'EU'],
  ['BT-46-1', 'BR-CL-10', 'BuyerTradeParty GlobalID@schemeID', '0001'],
  ['BT-47-1', 'BR-CL-11', 'BuyerTradeParty SpecifiedLegalOrganization ID@schemeID', '9999'],
  ['BT-49-1', 'BR-CL-25', 'BuyerTradeParty URIUniversalCommunication URIID@schemeID', '9900'],
  ['BT-55', 'BR-CL-14', 'BuyerTradeParty CountryID', 'UK'],
  ['BT-60-1', 'BR-CL-10', 'PayeeTradeParty GlobalID@schemeID', '1000'],
  ['BT-61-1', 'BR-CL-11', 'PayeeTradeParty SpecifiedLegalOrganization ID@schemeID', '2'],
  ['BT-69', 'BR-CL-14', 'SellerTaxRepresentativeTradeParty CountryID', 'QO'],
  ['BT-71-1', 'BR-CL-26', 'ShipToTradeParty GlobalID@schemeID', '0000'],
  ['BT-80', 'BR-CL-14', 'ShipToTradeParty CountryID', 'SU'],
  ['BT-81', 'BR-CL-16', 'SpecifiedTradeSettlementPaymentMeans TypeCode', '99'],
  ['BT-98', 'BR-CL-19', 'ApplicableHeaderTradeSettlement ReasonCode', 'FC'],
  ['BT-105', 'BR-CL-20', 'ApplicableHeaderTradeSettlement ReasonCode ReasonCode', '95'],
  ['BT-110', 'BR-CL-03', 'TaxTotalAmount@currencyID', 'EURO'],
  ['BT-121', 'BR-CL-22', 'ExemptionReasonCode', 'VATEX-EU-1'],
  ['BT-125-1', 'BR-CL-24', 'AttachmentBinaryObject@mimeCode', 'text/html'],
  ['BT-128-1', 'BR-CL-07', 'SpecifiedLineTradeSettlement ReferenceTypeCode', 'abz'],
  ['BT-130', 'BR-CL-23', 'BilledQuantity@unitCode', 'PCS'],
  ['BT-140', 'BR-CL-19', 'SpecifiedLineTradeSettlement ReasonCode', 'AA'],
  ['BT-145', 'BR-CL-20', 'SpecifiedLineTradeSettlement ReasonCode ReasonCode', '41'],
  ['BT-150', 'BR-CL-23', 'NetPriceProductTradePrice BasisQuantity@unitCode', 'BX'],
  ['BT-157-1', 'BR-CL-21', 'SpecifiedTradeProduct GlobalID@schemeID', 'GTIN'],
  ['BT-158-1', 'BR-CL-13', 'ClassCode@listID', 'UNSPSC'],
  ['BT-159', 'BR-CL-15', 'OriginTradeCountry ID', 'ZZ'],
];

/** The XML with another code. @param path names of elements that follow each other, the last one perhaps with an attribute. */
export function withCode(xml: string, path: string, code: string): string {
  const names = path.split(' ').map((name) => {
    const [element, attribute] = name.split('@');
    return attribute === undefined ? `<ram:${element}>` : `<ram:${element} [^>]*?\\b${attribute}="`;
  });
  return xml.replace(
    new RegExp(`(${names.join('.*?')})[^"<]*`, 's'),
    (_, before: string) => `${before}${code}`,
  );
}
