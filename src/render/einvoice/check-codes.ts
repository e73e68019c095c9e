import { type CodeList, isCode } from './code-lists.ts';
import { quoted, type Report } from './report.ts';
import { all, type Node, textAt } from './tree.ts';

/** What a code of each list is called, with an example. */
const NAMES: Readonly<Record<CodeList, string>> = {
  documentType: 'code of an invoice or credit note (UNTDID 1001), such as 380',
  currency: 'currency (ISO 4217), such as EUR',
  country: 'country (ISO 3166-1), such as DE',
  unit: 'unit (UN/ECE Recommendation 20, or 21 with an X before it), such as C62 for pieces',
  paymentMeans: 'way to pay (UNTDID 4461), such as 58 for a SEPA transfer',
  allowanceReason: 'reason of an allowance (UNTDID 5189), such as 95 for a discount',
  chargeReason: 'reason of a charge (UNTDID 7161), such as FC for freight',
  vatex: 'reason of an exemption (VATEX), such as VATEX-EU-AE',
  icd: 'scheme of identifiers (ISO/IEC 6523), such as 0088 for a GLN',
  eas: 'scheme of electronic addresses (EAS), such as EM for e-mail',
  reference: 'code of a reference (UNTDID 1153), such as ABZ for a vehicle licence number',
  subject: 'subject of a note (UNTDID 4451), such as AAI for general information',
  classification: 'list of classes of items (UNTDID 7143), such as STI for UNSPSC',
  taxPoint:
    'code of when VAT becomes due, such as 35 for the delivery (UNTDID 2005), which is 29 in CII (UNTDID 2475)',
  mediaType: 'media type of a supporting document, such as application/pdf or text/csv',
};

/** A term that has a code: where it is (with `@`, in an attribute), its rule, and the list of the code. */
type Term = readonly [path: string, term: string, rule: string, list: CodeList];

/** @param terms of its country, of the schemes of its identifiers, of its registration and of its electronic address. */
const party = (
  path: string,
  [country, identifier, registration, address]: readonly (string | undefined)[],
): Term[] =>
  (
    [
      [`${path}/PostalTradeAddress/CountryID`, country, 'BR-CL-14', 'country'],
      [
        `${path}/GlobalID@schemeID`,
        identifier,
        path.endsWith('ShipToTradeParty') ? 'BR-CL-26' : 'BR-CL-10',
        'icd',
      ],
      [`${path}/SpecifiedLegalOrganization/ID@schemeID`, registration, 'BR-CL-11', 'icd'],
      [`${path}/URIUniversalCommunication/URIID@schemeID`, address, 'BR-CL-25', 'eas'],
    ] as const
  ).flatMap(([at, term, rule, list]) => (term === undefined ? [] : [[at, term, rule, list] as const]));

const AGREEMENT = 'SupplyChainTradeTransaction/ApplicableHeaderTradeAgreement';
const DELIVERY = 'SupplyChainTradeTransaction/ApplicableHeaderTradeDelivery';
const SETTLEMENT = 'SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement';

const TAX_TOTAL = 'SpecifiedTradeSettlementHeaderMonetarySummation/TaxTotalAmount';

const HEADER: readonly Term[] = [
  ['ExchangedDocument/TypeCode', 'BT-3', 'BR-CL-01', 'documentType'],
  [`${SETTLEMENT}/InvoiceCurrencyCode`, 'BT-5', 'BR-CL-04', 'currency'],
  [`${SETTLEMENT}/TaxCurrencyCode`, 'BT-6', 'BR-CL-05', 'currency'],
  [`${SETTLEMENT}/ApplicableTradeTax/DueDateTypeCode`, 'BT-8', 'BR-CL-06', 'taxPoint'],
  [`${AGREEMENT}/AdditionalReferencedDocument/ReferenceTypeCode`, 'BT-18-1', 'BR-CL-07', 'reference'],
  ['ExchangedDocument/IncludedNote/SubjectCode', 'BT-21', 'BR-CL-08', 'subject'],
  ...party(`${AGREEMENT}/SellerTradeParty`, ['BT-40', 'BT-29-1', 'BT-30-1', 'BT-34-1']),
  ...party(`${AGREEMENT}/BuyerTradeParty`, ['BT-55', 'BT-46-1', 'BT-47-1', 'BT-49-1']),
  ...party(`${AGREEMENT}/SellerTaxRepresentativeTradeParty`, ['BT-69']),
  ...party(`${DELIVERY}/ShipToTradeParty`, ['BT-80', 'BT-71-1']),
  ...party(`${SETTLEMENT}/PayeeTradeParty`, [undefined, 'BT-60-1', 'BT-61-1']),
  [`${SETTLEMENT}/SpecifiedTradeSettlementPaymentMeans/TypeCode`, 'BT-81', 'BR-CL-16', 'paymentMeans'],
  [`${SETTLEMENT}/ApplicableTradeTax/ExemptionReasonCode`, 'BT-121', 'BR-CL-22', 'vatex'],
  [
    `${AGREEMENT}/AdditionalReferencedDocument/AttachmentBinaryObject@mimeCode`,
    'BT-125-1',
    'BR-CL-24',
    'mediaType',
  ],
];

const LINE: readonly Term[] = [
  [
    'SpecifiedLineTradeSettlement/AdditionalReferencedDocument/ReferenceTypeCode',
    'BT-128-1',
    'BR-CL-07',
    'reference',
  ],
  ['SpecifiedLineTradeDelivery/BilledQuantity@unitCode', 'BT-130', 'BR-CL-23', 'unit'],
  ...['GrossPriceProductTradePrice', 'NetPriceProductTradePrice'].map(
    (price): Term => [
      `SpecifiedLineTradeAgreement/${price}/BasisQuantity@unitCode`,
      'BT-150',
      'BR-CL-23',
      'unit',
    ],
  ),
  ['SpecifiedTradeProduct/GlobalID@schemeID', 'BT-157-1', 'BR-CL-21', 'icd'],
  [
    'SpecifiedTradeProduct/DesignatedProductClassification/ClassCode@listID',
    'BT-158-1',
    'BR-CL-13',
    'classification',
  ],
  ['SpecifiedTradeProduct/OriginTradeCountry/ID', 'BT-159', 'BR-CL-15', 'country'],
];

/**
 * Every code of EN 16931 but those of VAT categories, by its list. What only the profile `extended` has is not compared.
 *
 * @param root of the invoice.
 */
export function checkCodes(root: Node, isExtended: boolean, report: Report): void {
  checkTerms(root, HEADER);
  for (const settlement of all(root, SETTLEMENT)) {
    checkReasons(settlement, ['BT-98', 'BT-105']);
    // Those of the invoice have been checked.
    const own = ['InvoiceCurrencyCode', 'TaxCurrencyCode'].map((name) => textAt(settlement, name));
    for (const { attributes } of all(settlement, TAX_TOTAL))
      if (attributes.currencyID !== undefined && !own.includes(attributes.currencyID))
        check(attributes.currencyID, 'BT-110', 'BR-CL-03', 'currency');
  }
  for (const line of all(root, 'SupplyChainTradeTransaction/IncludedSupplyChainTradeLineItem')) {
    const where = `line ${textAt(line, 'AssociatedDocumentLineDocument/LineID') ?? ''}`;
    checkTerms(line, LINE, where);
    for (const settlement of all(line, 'SpecifiedLineTradeSettlement'))
      checkReasons(settlement, ['BT-140', 'BT-145'], where);
  }

  function checkTerms(node: Node, terms: readonly Term[], where?: string): void {
    for (const [path, term, rule, list] of terms) {
      const [elements = '', attribute] = path.split('@');
      const codes = all(node, elements).flatMap(({ text, attributes }) =>
        attribute === undefined ? text : (attributes[attribute] ?? []),
      );
      // A code that is wrong in one place is, as a rule, wrong in others.
      for (const code of new Set(codes)) check(code, term, rule, list, where);
    }
  }

  /** @param terms of an allowance and of a charge. */
  function checkReasons(node: Node, terms: readonly [string, string], where?: string): void {
    for (const each of all(node, 'SpecifiedTradeAllowanceCharge')) {
      const isCharge = ['true', '1'].includes(textAt(each, 'ChargeIndicator/Indicator') ?? '');
      for (const { text, attributes } of all(each, 'ReasonCode')) {
        // A code of another list, such as of taxes and fees in the profile `extended`.
        if (attributes.listID !== undefined) continue;
        if (isCharge) check(text, terms[1], 'BR-CL-20', 'chargeReason', where);
        else check(text, terms[0], 'BR-CL-19', 'allowanceReason', where);
      }
    }
  }

  function check(code: string, term: string, rule: string, list: CodeList, where?: string): void {
    if (!isCode(list, code.trim(), isExtended))
      report.add(term, rule, `${quoted(code)} is no ${NAMES[list]}`, where);
  }
}
