import { exactOf, textOf } from './decimals.ts';
import type { Invoice, InvoiceLine } from './invoice-schema.ts';

/** Content of an element: a text, perhaps with attributes, or its elements by name, in any order. */
export type Content = string | Leaf | Elements | undefined;
export interface Leaf {
  readonly text: string;
  readonly attributes: Readonly<Record<string, string | undefined>>;
}
export interface Elements {
  readonly elements: Readonly<Record<string, Content | readonly Content[]>>;
}

const leaf = (text: string | undefined, attributes: Leaf['attributes']): Content =>
  text === undefined ? undefined : { text, attributes };
const group = (elements: Elements['elements']): Elements => ({ elements });
/** A group only where there is something that it is of. */
const groupOf = <T>(value: T | undefined, make: (value: T) => Elements['elements']): Content =>
  value === undefined ? undefined : group(make(value));

type Number = Invoice['totals']['due'];
/** Invoices show two decimals at least. */
const number = (value: Number | undefined): string | undefined =>
  value === undefined ? undefined : textOf(exactOf(decimalText(value)) ?? 0n);
/** A number as its shortest notation without an exponent shows it. */
const decimalText = (value: Number): string =>
  typeof value === 'number' && Math.abs(value) < 1e-6 ? value.toFixed(20) : String(value);

const compact = (date: string) => date.replaceAll('-', '');
const dateTime = (date: string | undefined): Content =>
  groupOf(date, (day) => ({ DateTimeString: leaf(compact(day), { format: '102' }) }));

interface Identifier {
  readonly id: string;
  readonly scheme?: string | undefined;
}
const scheme = (identifier: Identifier | undefined): Content =>
  leaf(identifier?.id, { schemeID: identifier?.scheme });
/** Identifiers with a scheme are global ones. */
const identified = (identifiers: readonly (Identifier | undefined)[]) => ({
  ID: identifiers.filter((each) => each?.scheme === undefined).map((each) => each?.id),
  GlobalID: identifiers.filter((each) => each?.scheme !== undefined).map(scheme),
});
const reference = (id: string | undefined): Content => groupOf(id, (text) => ({ IssuerAssignedID: text }));

interface Party {
  readonly name?: string | undefined;
  readonly tradingName?: string | undefined;
  readonly registration?: Identifier | undefined;
  readonly address?: Partial<Record<string, string | undefined>> | undefined;
  readonly contact?: Partial<Record<'name' | 'phone' | 'email', string | undefined>> | undefined;
  readonly electronicAddress?: Identifier | undefined;
  readonly vatId?: string | undefined;
  readonly taxNumber?: string | undefined;
  readonly legalInformation?: string | undefined;
}

function party(party: Party, identifiers: readonly (Identifier | undefined)[] = []): Elements['elements'] {
  const { registration, tradingName, address, contact, electronicAddress, vatId, taxNumber } = party;
  return {
    ...identified(identifiers),
    Name: party.name,
    Description: party.legalInformation,
    SpecifiedLegalOrganization: groupOf(registration ?? tradingName, () => ({
      ID: scheme(registration),
      TradingBusinessName: tradingName,
    })),
    DefinedTradeContact: groupOf(contact, ({ name, phone, email }) => ({
      PersonName: name,
      TelephoneUniversalCommunication: groupOf(phone, (text) => ({ CompleteNumber: text })),
      EmailURIUniversalCommunication: groupOf(email, (text) => ({ URIID: text })),
    })),
    PostalTradeAddress: groupOf(address, (given) => ({
      PostcodeCode: given.postCode,
      LineOne: given.line1,
      LineTwo: given.line2,
      LineThree: given.line3,
      CityName: given.city,
      CountryID: given.country,
      CountrySubDivisionName: given.subdivision,
    })),
    URIUniversalCommunication: groupOf(electronicAddress, (given) => ({ URIID: scheme(given) })),
    SpecifiedTaxRegistration: [
      groupOf(vatId, (id) => ({ ID: leaf(id, { schemeID: 'VA' }) })),
      groupOf(taxNumber, (id) => ({ ID: leaf(id, { schemeID: 'FC' }) })),
    ],
  };
}

interface Adjustment {
  readonly amount: Number;
  readonly base?: Number | undefined;
  readonly percent?: Number | undefined;
  readonly vatCategory?: string | undefined;
  readonly vatRate?: Number | undefined;
  readonly reason?: string | undefined;
  readonly reasonCode?: string | undefined;
}

const adjustments = (
  allowances: readonly Adjustment[] = [],
  charges: readonly Adjustment[] = [],
): Content[] => [
  ...allowances.map((each) => adjustment(each, 'false')),
  ...charges.map((each) => adjustment(each, 'true')),
];

function adjustment(given: Adjustment, isCharge: 'true' | 'false'): Content {
  return group({
    ChargeIndicator: group({ Indicator: isCharge }),
    CalculationPercent: number(given.percent),
    BasisAmount: number(given.base),
    ActualAmount: number(given.amount),
    ReasonCode: given.reasonCode,
    Reason: given.reason,
    CategoryTradeTax: groupOf(given.vatCategory, (category) => vat(category, given.vatRate)),
  });
}

const vat = (category: string, rate: Number | undefined): Elements['elements'] => ({
  TypeCode: 'VAT',
  CategoryCode: category,
  RateApplicablePercent: number(rate),
});

const period = (given: Invoice['period']): Content =>
  groupOf(given, ({ start, end }) => ({ StartDateTime: dateTime(start), EndDateTime: dateTime(end) }));

function tradeLine(line: InvoiceLine): Content {
  const { price, objectIdentifier } = line;
  const basis = leaf(number(price.baseQuantity), { unitCode: price.baseUnit ?? line.unit });
  return group({
    AssociatedDocumentLineDocument: group({
      LineID: line.id,
      IncludedNote: groupOf(line.note, (Content) => ({ Content })),
    }),
    SpecifiedTradeProduct: group({
      GlobalID: scheme(line.standardItemId),
      SellerAssignedID: line.sellerItemId,
      BuyerAssignedID: line.buyerItemId,
      Name: line.name,
      Description: line.description,
      ApplicableProductCharacteristic: (line.attributes ?? []).map(({ name, value }) =>
        group({ Description: name, Value: value }),
      ),
      DesignatedProductClassification: (line.classifications ?? []).map(({ code, scheme, version }) =>
        group({ ClassCode: leaf(code, { listID: scheme, listVersionID: version }) }),
      ),
      OriginTradeCountry: groupOf(line.originCountry, (ID) => ({ ID })),
    }),
    SpecifiedLineTradeAgreement: group({
      BuyerOrderReferencedDocument: groupOf(line.orderLine, (LineID) => ({ LineID })),
      GrossPriceProductTradePrice: groupOf(price.gross, (gross) => ({
        ChargeAmount: number(gross),
        BasisQuantity: basis,
        AppliedTradeAllowanceCharge: groupOf(price.discount, (discount) => ({
          ChargeIndicator: group({ Indicator: 'false' }),
          ActualAmount: number(discount),
        })),
      })),
      NetPriceProductTradePrice: group({ ChargeAmount: number(price.net), BasisQuantity: basis }),
    }),
    SpecifiedLineTradeDelivery: group({
      BilledQuantity: leaf(number(line.quantity), { unitCode: line.unit }),
    }),
    SpecifiedLineTradeSettlement: group({
      ApplicableTradeTax: group(vat(line.vatCategory, line.vatRate)),
      BillingSpecifiedPeriod: period(line.period),
      SpecifiedTradeAllowanceCharge: adjustments(line.allowances, line.charges),
      SpecifiedTradeSettlementLineMonetarySummation: group({ LineTotalAmount: number(line.net) }),
      AdditionalReferencedDocument: groupOf(objectIdentifier, ({ id, scheme }) => ({
        IssuerAssignedID: id,
        TypeCode: '130',
        ReferenceTypeCode: scheme,
      })),
      ReceivableSpecifiedTradeAccountingAccount: groupOf(line.accountingReference, (ID) => ({ ID })),
    }),
  });
}

function additionalDocuments(invoice: Invoice): Content[] {
  const { tenderReference, objectIdentifier, supportingDocuments = [] } = invoice;
  return [
    ...supportingDocuments.map(({ reference: id, description, location, file }) =>
      group({
        IssuerAssignedID: id,
        URIID: location,
        TypeCode: '916',
        Name: description,
        AttachmentBinaryObject: leaf(file?.content, { mimeCode: file?.type, filename: file?.name }),
      }),
    ),
    groupOf(tenderReference, (id) => ({ IssuerAssignedID: id, TypeCode: '50' })),
    groupOf(objectIdentifier, ({ id, scheme }) => ({
      IssuerAssignedID: id,
      TypeCode: '130',
      ReferenceTypeCode: scheme,
    })),
  ];
}

function agreement(invoice: Invoice): Content {
  const { seller, buyer, taxRepresentative, projectReference } = invoice;
  return group({
    BuyerReference: invoice.buyerReference,
    SellerTradeParty: group(party(seller, seller.identifiers)),
    BuyerTradeParty: group(party(buyer, [buyer.identifier])),
    SellerTaxRepresentativeTradeParty: groupOf(taxRepresentative, (given) => party(given)),
    SellerOrderReferencedDocument: reference(invoice.salesOrderReference),
    BuyerOrderReferencedDocument: reference(invoice.purchaseOrderReference),
    ContractReferencedDocument: reference(invoice.contractReference),
    AdditionalReferencedDocument: additionalDocuments(invoice),
    SpecifiedProcuringProject: groupOf(projectReference, (ID) => ({ ID, Name: ID })),
  });
}

function delivery(invoice: Invoice): Content {
  const { name, location, date, address } = invoice.delivery ?? {};
  return group({
    ShipToTradeParty: groupOf(name ?? location ?? address, () => party({ name, address }, [location])),
    ActualDeliverySupplyChainEvent: groupOf(date, (day) => ({ OccurrenceDateTime: dateTime(day) })),
    DespatchAdviceReferencedDocument: reference(invoice.despatchAdviceReference),
    ReceivingAdviceReferencedDocument: reference(invoice.receivingAdviceReference),
  });
}

/** CII has codes of another list (UNTDID 2475) than EN 16931 (UNTDID 2005) for the same. */
const TAX_POINT_CODES: Readonly<Record<string, string>> = { 3: '5', 35: '29', 432: '72' };

function settlement(invoice: Invoice): Content {
  const { currency, taxCurrency, taxPointDate, taxPointCode, payment, payee, totals } = invoice;
  const isDebited = payment?.directDebit?.mandate;
  return group({
    CreditorReferenceID: payment?.directDebit?.creditor,
    PaymentReference: payment?.remittance,
    TaxCurrencyCode: taxCurrency,
    InvoiceCurrencyCode: currency,
    PayeeTradeParty: groupOf(payee, (given) => party(given, [given.identifier])),
    SpecifiedTradeSettlementPaymentMeans: paymentMeans(payment),
    ApplicableTradeTax: invoice.vatBreakdown.map((row, i) =>
      group({
        CalculatedAmount: number(row.amount),
        ...vat(row.category, row.rate),
        ExemptionReason: row.exemptionReason,
        BasisAmount: number(row.base),
        ExemptionReasonCode: row.exemptionReasonCode,
        // Said once, of the whole invoice (CII-SR-461).
        ...(i === 0 && {
          TaxPointDate: groupOf(taxPointDate, (day) => ({
            DateString: leaf(compact(day), { format: '102' }),
          })),
          DueDateTypeCode: taxPointCode && (TAX_POINT_CODES[taxPointCode] ?? taxPointCode),
        }),
      }),
    ),
    BillingSpecifiedPeriod: period(invoice.period),
    SpecifiedTradeAllowanceCharge: adjustments(invoice.allowances, invoice.charges),
    SpecifiedTradePaymentTerms: groupOf(invoice.paymentTerms ?? invoice.dueDate ?? isDebited, () => ({
      Description: invoice.paymentTerms,
      DueDateDateTime: dateTime(invoice.dueDate),
      DirectDebitMandateID: isDebited,
    })),
    SpecifiedTradeSettlementHeaderMonetarySummation: group({
      LineTotalAmount: number(totals.lines),
      ChargeTotalAmount: number(totals.charges),
      AllowanceTotalAmount: number(totals.allowances),
      TaxBasisTotalAmount: number(totals.withoutVat),
      TaxTotalAmount: [
        leaf(number(totals.vat), { currencyID: currency }),
        leaf(number(totals.vatInTaxCurrency), { currencyID: taxCurrency }),
      ],
      RoundingAmount: number(totals.rounding),
      GrandTotalAmount: number(totals.withVat),
      TotalPrepaidAmount: number(totals.prepaid),
      DuePayableAmount: number(totals.due),
    }),
    InvoiceReferencedDocument: (invoice.precedingInvoices ?? []).map(({ number: id, issueDate }) =>
      group({ IssuerAssignedID: id, FormattedIssueDateTime: dateTime(issueDate) }),
    ),
    ReceivableSpecifiedTradeAccountingAccount: groupOf(invoice.accountingReference, (ID) => ({ ID })),
  });
}

/** One for each account that may be paid to. */
function paymentMeans(payment: Invoice['payment']): Content[] {
  if (payment === undefined) return [];
  const { card, directDebit, transfers = [] } = payment;
  return (transfers.length === 0 ? [undefined] : transfers).map((transfer) =>
    group({
      TypeCode: payment.meansCode,
      Information: payment.meansText,
      ApplicableTradeSettlementFinancialCard: groupOf(card, ({ number: id, holder }) => ({
        ID: id,
        CardholderName: holder,
      })),
      PayerPartyDebtorFinancialAccount: groupOf(directDebit?.iban, (IBANID) => ({ IBANID })),
      PayeePartyCreditorFinancialAccount: groupOf(transfer, ({ iban, account, accountName }) => ({
        IBANID: iban,
        AccountName: accountName,
        ProprietaryID: account,
      })),
      PayeeSpecifiedCreditorFinancialInstitution: groupOf(transfer?.bic, (BICID) => ({ BICID })),
    }),
  );
}

/** What an invoice says in CII (UN/CEFACT, D16B). @param typeCode where the invoice has none. */
export function crossIndustryInvoice(invoice: Invoice, guideline: string, typeCode: string): Elements {
  return group({
    ExchangedDocumentContext: group({
      BusinessProcessSpecifiedDocumentContextParameter: groupOf(invoice.businessProcess, (ID) => ({ ID })),
      GuidelineSpecifiedDocumentContextParameter: group({ ID: guideline }),
    }),
    ExchangedDocument: group({
      ID: invoice.number,
      TypeCode: invoice.typeCode ?? typeCode,
      IssueDateTime: dateTime(invoice.issueDate),
      IncludedNote: (invoice.notes ?? []).map(({ text, subject }) =>
        group({ Content: text, SubjectCode: subject }),
      ),
    }),
    SupplyChainTradeTransaction: group({
      IncludedSupplyChainTradeLineItem: (invoice.lines ?? []).map(tradeLine),
      ApplicableHeaderTradeAgreement: agreement(invoice),
      ApplicableHeaderTradeDelivery: delivery(invoice),
      ApplicableHeaderTradeSettlement: settlement(invoice),
    }),
  });
}
