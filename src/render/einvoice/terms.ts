import type { ErrorDetail, XmlDocument } from 'libxml2-wasm';
import { z } from 'zod';
import { invoiceSchema } from './invoice-schema.ts';

/** The business terms of elements, by the names of the element that they are in and of their own. */
const TERMS: Readonly<Record<string, string>> = {
  'ExchangedDocument/ID': 'BT-1',
  IssueDateTime: 'BT-2',
  'ExchangedDocument/TypeCode': 'BT-3',
  InvoiceCurrencyCode: 'BT-5',
  TaxCurrencyCode: 'BT-6',
  TaxPointDate: 'BT-7',
  DueDateTypeCode: 'BT-8',
  DueDateDateTime: 'BT-9',
  BuyerReference: 'BT-10',
  SpecifiedProcuringProject: 'BT-11',
  ContractReferencedDocument: 'BT-12',
  'ApplicableHeaderTradeAgreement/BuyerOrderReferencedDocument': 'BT-13',
  SellerOrderReferencedDocument: 'BT-14',
  ReceivingAdviceReferencedDocument: 'BT-15',
  DespatchAdviceReferencedDocument: 'BT-16',
  GuidelineSpecifiedDocumentContextParameter: 'BT-24',
  InvoiceReferencedDocument: 'BG-3',
  'SellerTradeParty/Name': 'BT-27',
  SellerTradeParty: 'BG-4',
  'BuyerTradeParty/Name': 'BT-44',
  BuyerTradeParty: 'BG-7',
  PayeeTradeParty: 'BG-10',
  SellerTaxRepresentativeTradeParty: 'BG-11',
  ShipToTradeParty: 'BG-13',
  SpecifiedTradeSettlementPaymentMeans: 'BG-16',
  'SpecifiedTradeSettlementHeaderMonetarySummation/LineTotalAmount': 'BT-106',
  AllowanceTotalAmount: 'BT-107',
  ChargeTotalAmount: 'BT-108',
  TaxBasisTotalAmount: 'BT-109',
  TaxTotalAmount: 'BT-110',
  GrandTotalAmount: 'BT-112',
  TotalPrepaidAmount: 'BT-113',
  RoundingAmount: 'BT-114',
  DuePayableAmount: 'BT-115',
  'ApplicableTradeTax/BasisAmount': 'BT-116',
  'ApplicableTradeTax/CalculatedAmount': 'BT-117',
  SpecifiedTradeSettlementHeaderMonetarySummation: 'BG-22',
  LineID: 'BT-126',
  BilledQuantity: 'BT-129',
  'SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount': 'BT-131',
  'NetPriceProductTradePrice/ChargeAmount': 'BT-146',
  'GrossPriceProductTradePrice/ChargeAmount': 'BT-148',
  'SpecifiedTradeProduct/Name': 'BT-153',
  IncludedSupplyChainTradeLineItem: 'BG-25',
};
const NAMESPACE = /\{[^}]*\}/g;
const NAMED = /Element '(?:\{[^}]*\})?([^']+)'/;
/** The last of several, since those before it may be left out. */
const EXPECTED = /Expected is (?:one of )?\(.*?([A-Za-z]+) *\)\./;

/** What the schema has against an XML, with the term that the element is of where it is known. */
export function schemaFaults(details: readonly ErrorDetail[], document: XmlDocument): string[] {
  const parents = new Map<string, ReadonlyMap<number, string>>();
  return details.map(({ message, line }) => {
    const name = NAMED.exec(message)?.[1] ?? '';
    const parent = parentOf(document, name, line, parents);
    const missing = EXPECTED.exec(message)?.[1];
    const term =
      TERMS[`${parent}/${name}`] ??
      (missing === undefined ? undefined : (TERMS[`${name}/${missing}`] ?? TERMS[missing])) ??
      TERMS[name] ??
      TERMS[parent];
    const words = message.replace(NAMESPACE, '').replace(/\s+/g, ' ').trim();
    return `${term ?? 'the XML'} (line ${line} of the XML): ${words.slice(0, 300)}`;
  });
}

/** The name of the element that the named one is in. @param parents by name and line, as far as they have been asked for. */
function parentOf(
  document: XmlDocument,
  name: string,
  line: number,
  parents: Map<string, ReadonlyMap<number, string>>,
): string {
  if (!/^[A-Za-z]+$/.test(name)) return '';
  const known = parents.get(name) ?? parentsOf(document, name);
  parents.set(name, known);
  return known.get(line) ?? '';
}

/** By line; empty where elements of the name have several parents on one line. */
function parentsOf(document: XmlDocument, name: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const { line, parent } of document.find(`//*[local-name()='${name}']`)) {
    const own = parent?.name ?? '';
    found.set(line, found.has(line) && found.get(line) !== own ? '' : own);
  }
  return found;
}

/** The business term of a field of the data: of the innermost one that has a description. */
export function termAt(path: readonly PropertyKey[]): string | undefined {
  let schema: z.ZodType | undefined = invoiceSchema;
  let term: string | undefined;
  for (const part of path) {
    schema = unwrapped(schema);
    if (schema instanceof z.ZodObject) schema = (schema.shape as Record<string, z.ZodType>)[String(part)];
    else if (schema instanceof z.ZodArray) schema = schema.element as z.ZodType;
    else return term;
    if (schema === undefined) return term;
    const description = schema.description ?? unwrapped(schema)?.description ?? '';
    term = /^B[TG]-[\d-]+/.exec(description)?.[0] ?? term;
  }
  return term;
}

function unwrapped(schema: z.ZodType | undefined): z.ZodType | undefined {
  return schema instanceof z.ZodOptional ? unwrapped(schema.unwrap() as z.ZodType) : schema;
}
