import { type Exact, exactOf, ZERO } from './decimals.ts';
import { all, type Node, one, textAt } from './tree.ts';

/** What has a VAT category and rate. */
export interface Taxed {
  readonly category: string | undefined;
  readonly rate: Exact | undefined;
}

/** An allowance (or charge) of a line or of the whole invoice. */
export interface Adjustment extends Taxed {
  readonly isCharge: boolean;
  readonly amount: Exact | undefined;
  readonly hasReason: boolean;
}

export interface LineFacts extends Taxed {
  /** BT-126, or its place. */
  readonly id: string;
  readonly net: Exact | undefined;
  readonly quantity: Exact | undefined;
  readonly unit: string | undefined;
  readonly price: Exact | undefined;
  readonly gross: Exact | undefined;
  readonly discount: Exact | undefined;
  readonly base: Exact | undefined;
  readonly adjustments: readonly Adjustment[];
}

export interface VatFacts extends Taxed {
  readonly base: Exact | undefined;
  readonly amount: Exact | undefined;
  readonly hasReason: boolean;
}

/** What the rules compare of an invoice: its XML, whose numbers the schema has checked. */
export interface Facts {
  readonly agreement: Node | undefined;
  readonly delivery: Node | undefined;
  readonly settlement: Node | undefined;
  readonly document: Node | undefined;
  readonly totals: Node | undefined;
  readonly lines: readonly LineFacts[];
  readonly adjustments: readonly Adjustment[];
  readonly vat: readonly VatFacts[];
  readonly currency: string | undefined;
}

export function factsOf(root: Node): Facts {
  const transaction = one(root, 'SupplyChainTradeTransaction');
  const settlement = one(transaction, 'ApplicableHeaderTradeSettlement');
  return {
    agreement: one(transaction, 'ApplicableHeaderTradeAgreement'),
    delivery: one(transaction, 'ApplicableHeaderTradeDelivery'),
    settlement,
    document: one(root, 'ExchangedDocument'),
    totals: one(settlement, 'SpecifiedTradeSettlementHeaderMonetarySummation'),
    lines: all(transaction, 'IncludedSupplyChainTradeLineItem').filter(isOfSum).map(lineFacts),
    adjustments: [...adjustmentsIn(settlement), ...serviceCharges(settlement)],
    vat: all(settlement, 'ApplicableTradeTax').map((tax) => ({
      base: numberAt(tax, 'BasisAmount'),
      amount: numberAt(tax, 'CalculatedAmount'),
      category: textAt(tax, 'CategoryCode'),
      rate: numberAt(tax, 'RateApplicablePercent'),
      hasReason: hasAny(tax, ['ExemptionReason', 'ExemptionReasonCode']),
    })),
    currency: textAt(settlement, 'InvoiceCurrencyCode'),
  };
}

/** @returns undefined where there is none. */
export function numberAt(node: Node | undefined, path: string): Exact | undefined {
  const text = textAt(node, path);
  return text === undefined ? undefined : exactOf(text);
}

export function hasAny(node: Node | undefined, paths: readonly string[]): boolean {
  return paths.some((path) => textAt(node, path) !== undefined);
}

export function sum(numbers: readonly (Exact | undefined)[]): Exact {
  return numbers.reduce<Exact>((total, number) => total + (number ?? ZERO), ZERO);
}

function lineFacts(line: Node, index: number): LineFacts {
  const price = one(line, 'SpecifiedLineTradeAgreement/NetPriceProductTradePrice');
  const gross = one(line, 'SpecifiedLineTradeAgreement/GrossPriceProductTradePrice');
  const quantity = one(line, 'SpecifiedLineTradeDelivery/BilledQuantity');
  const settlement = one(line, 'SpecifiedLineTradeSettlement');
  return {
    id: textAt(line, 'AssociatedDocumentLineDocument/LineID') ?? `number ${index + 1}`,
    net: numberAt(settlement, 'SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount'),
    quantity: quantity && exactOf(quantity.text),
    unit: quantity?.attributes.unitCode,
    price: numberAt(price, 'ChargeAmount'),
    gross: numberAt(gross, 'ChargeAmount'),
    discount: numberAt(gross, 'AppliedTradeAllowanceCharge/ActualAmount'),
    base: numberAt(price, 'BasisQuantity') ?? numberAt(gross, 'BasisQuantity'),
    category: textAt(settlement, 'ApplicableTradeTax/CategoryCode'),
    rate: numberAt(settlement, 'ApplicableTradeTax/RateApplicablePercent'),
    adjustments: adjustmentsIn(settlement),
  };
}

/** The extended profile has lines that group others, or only inform. */
function isOfSum(line: Node): boolean {
  const status = textAt(line, 'AssociatedDocumentLineDocument/LineStatusReasonCode');
  return status !== 'GROUP' && status !== 'INFORMATION';
}

/** Charges for a service, which the extended profile has besides (BG-X-42). */
function serviceCharges(settlement: Node | undefined): Adjustment[] {
  return all(settlement, 'SpecifiedLogisticsServiceCharge').map((each) => ({
    isCharge: true,
    amount: numberAt(each, 'AppliedAmount'),
    category: textAt(each, 'AppliedTradeTax/CategoryCode'),
    rate: numberAt(each, 'AppliedTradeTax/RateApplicablePercent'),
    hasReason: hasAny(each, ['Description']),
  }));
}

function adjustmentsIn(settlement: Node | undefined): Adjustment[] {
  return all(settlement, 'SpecifiedTradeAllowanceCharge').map((each) => ({
    isCharge: ['true', '1'].includes(textAt(each, 'ChargeIndicator/Indicator') ?? ''),
    amount: numberAt(each, 'ActualAmount'),
    category: textAt(each, 'CategoryTradeTax/CategoryCode'),
    rate: numberAt(each, 'CategoryTradeTax/RateApplicablePercent'),
    hasReason: hasAny(each, ['Reason', 'ReasonCode']),
  }));
}

/** BT-31, BT-48 or BT-63. */
export function vatIdOf(party: Node | undefined): string | undefined {
  const found = all(party, 'SpecifiedTaxRegistration').find(
    (each) => one(each, 'ID')?.attributes.schemeID === 'VA',
  );
  return textAt(found, 'ID');
}
