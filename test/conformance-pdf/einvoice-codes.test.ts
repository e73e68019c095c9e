import assert from 'node:assert/strict';
import { type CodeList, codesOf, isCode } from '../../src/render/einvoice/code-lists.ts';
import { CATEGORIES } from '../../src/render/einvoice/rules.ts';
import { HUNG_MS } from '../support/eventually.ts';
import { CODED_TERMS, withCode, xmlOfCodes } from '../support/invoice.ts';
import { judgedInvoices, mustangFile } from './support/mustang.ts';

/** By list: a rule of EN 16931, and an element of Factur-X, whose codes its validators compare with the list. */
const WHERE: Readonly<Record<CodeList | 'vatCategory', readonly [rule: string, element: string]>> = {
  documentType: ['BR-CL-01', 'rsm:ExchangedDocument/ram:TypeCode'],
  currency: ['BR-CL-04', 'ram:ApplicableHeaderTradeSettlement/ram:InvoiceCurrencyCode'],
  country: ['BR-CL-14', 'ram:SellerTradeParty/ram:PostalTradeAddress/ram:CountryID'],
  unit: ['BR-CL-23', 'ram:SpecifiedLineTradeDelivery/ram:BilledQuantity'],
  paymentMeans: ['BR-CL-16', 'ram:SpecifiedTradeSettlementPaymentMeans/ram:TypeCode'],
  allowanceReason: ['BR-CL-19', 'udt:Indicator=&quot;false&quot;]/ram:ReasonCode'],
  chargeReason: ['BR-CL-20', 'udt:Indicator=&quot;true&quot;]/ram:ReasonCode[not (@listID)]'],
  vatex: ['BR-CL-22', 'ram:ApplicableTradeTax/ram:ExemptionReasonCode'],
  icd: ['BR-CL-10', 'ram:SellerTradeParty/ram:GlobalID'],
  eas: ['BR-CL-25', 'ram:SellerTradeParty/ram:URIUniversalCommunication/ram:URIID'],
  reference: ['BR-CL-07', 'ram:AdditionalReferencedDocument/ram:ReferenceTypeCode'],
  subject: ['BR-CL-08', 'ram:IncludedNote/ram:SubjectCode'],
  classification: ['BR-CL-13', 'ram:DesignatedProductClassification/ram:ClassCode'],
  taxPoint: ['BR-CL-06', 'ram:ApplicableTradeTax/ram:DueDateTypeCode'],
  mediaType: ['BR-CL-24', 'ram:AttachmentBinaryObject'],
  vatCategory: ['BR-CL-18', 'ram:CategoryTradeTax/ram:CategoryCode'],
};

describe('the codes of e-invoices', function () {
  this.timeout(2 * HUNG_MS);

  it('are those that the validators of EN 16931 and of Factur-X let pass, each of them and no other', async () => {
    const standard = await mustangFile('EN16931-CII-validation.xslt');
    const [rules, lists] = await Promise.all([
      mustangFile('FACTUR-X_EN16931.sch'),
      mustangFile('FACTUR-X_EN16931_codedb.xml'),
    ]);
    for (const [list, [rule, element]] of Object.entries(WHERE)) {
      const allowed = new Set([...ofStandard(standard, rule), ...ofFacturX(rules, lists, element)]);
      const own = list === 'vatCategory' ? new Set(Object.keys(CATEGORIES)) : codesOf(list as CodeList);
      assert.deepEqual([...own].toSorted(), [...allowed].toSorted(), list);
    }
  });

  it('are in the extended profile all that its validator lets pass', async () => {
    const [rules, lists] = await Promise.all([
      mustangFile('FACTUR-X_EXTENDED.sch'),
      mustangFile('FACTUR-X_EXTENDED_codedb.xml'),
    ]);
    const further: string[] = [];
    for (const list of Object.keys(WHERE).filter((name) => name !== 'vatCategory') as CodeList[])
      for (const code of ofFacturX(rules, lists, WHERE[list][1])) {
        assert.ok(isCode(list, code, true), `${list} ${code}`);
        if (!isCode(list, code)) further.push(code);
      }
    assert.deepEqual([...new Set(further)].toSorted(), [
      'BY',
      'SE',
      'application/json',
      'application/xml',
      'text/xml',
    ]);
  });

  if (process.env.CONFORMANCE === 'all')
    it('are refused by the same rules as by Mustang, and accepted where it accepts them', async () => {
      const xml = xmlOfCodes();
      const wrong = CODED_TERMS.reduce((text, [, , path, code]) => withCode(text, path, code), xml);
      const [right, refused = ''] = await judgedInvoices(
        [xml, wrong].map((text, i) => ({ name: `${i}`, bytes: Buffer.from(text) })),
      );
      assert.equal(right, '0: valid');
      const broken = new Set(refused.match(/(?<=\[)BR-CL-\d\d(?=\])/g));
      assert.deepEqual([...broken].toSorted(), [...new Set(CODED_TERMS.map(([, rule]) => rule))].toSorted());
    });
});

/** The codes that a rule compares with, of which its test is a text between spaces, or one of several media types. */
function ofStandard(xslt: string, rule: string): string[] {
  const test = new RegExp(`<svrl:failed-assert test="([^"]*)">\\s*<xsl:attribute name="id">${rule}<`).exec(
    xslt,
  )![1]!;
  const codes = [...test.matchAll(/contains\('([^']*)'|= '([^']+)'/g)].flatMap(([, spaced, one]) =>
    (spaced ?? one ?? '').trim().split(/\s+/),
  );
  assert.ok(codes.length >= 3, `${rule}: ${codes.length} codes`);
  return codes;
}

/** The codes of the list that the schematron has for an element. */
function ofFacturX(rules: string, lists: string, element: string): string[] {
  const contexts = rules.matchAll(/<rule context="([^"]*)">(.*?)<\/rule>/gs);
  const ids = [...contexts]
    .filter(([, context]) => context!.endsWith(element))
    .flatMap(([, , body]) => /<let name="codeValue(\d+)"/.exec(body!)?.[1] ?? []);
  assert.ok(ids.length > 0, `${element} has a list`);
  const codes = ids.flatMap((id) => {
    const [, list = ''] = new RegExp(`<cl id="${id}">(.*?)</cl>`, 's').exec(lists)!;
    return [...list.matchAll(/value="([^"]+)"/g)].map(([, code]) => code!);
  });
  assert.ok(codes.length >= 3, `${element}: ${codes.length} codes`);
  return codes;
}
