import { z } from 'zod';

/** Items of a list, such as the lines of an invoice. */
const MAX_ITEMS = 2000;
const MAX_TEXT = 10_000;
/** Characters of a supporting document in base64. The XML as a whole is bounded as well. */
const MAX_FILE = 1024 * 1024;

/** What XML 1.0 cannot hold, and control characters, which nobody means. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff\p{Cs}]/u;

const orMissing = (message: string) => (issue: { readonly input?: unknown }) =>
  issue.input === undefined ? 'is required' : message;

/** Descriptions begin with the business term of EN 16931 (BT-…), or with its group (BG-…): errors name it. */
const text = (description: string, max = MAX_TEXT) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !NOT_IN_XML.test(value), { error: 'must hold only characters of XML' })
    .describe(description);
const name = (description: string) => text(description, 512);
const code = (description: string) =>
  z
    .string()
    .max(40)
    .regex(/^[A-Za-z0-9-]+$/, { error: 'must be a code of letters and digits' })
    .describe(description);
const country = (description: string) =>
  z
    .string()
    .regex(/^(?:[A-Z]{2}|1A)$/, {
      error: 'must be a country code of two capital letters (ISO 3166-1), such as DE',
    })
    .describe(description);
const currency = (description: string) =>
  z
    .string()
    .regex(/^[A-Z]{3}$/, {
      error: 'must be a currency code of three capital letters (ISO 4217), such as EUR',
    })
    .describe(description);
const date = (description: string) =>
  z.iso.date({ error: orMissing('must be a date such as 2026-11-30') }).describe(description);

const NO_NUMBER = orMissing('must be a number, or text such as "1234.50"');

/** A number, or a decimal number as text, whose every digit counts. */
const decimal = (description: string) =>
  z
    .union(
      [z.number().min(-1e15).max(1e15), z.string().regex(/^-?\d{1,16}(\.\d{1,10})?$/, { error: NO_NUMBER })],
      {
        error: NO_NUMBER,
      },
    )
    .describe(description);

const list = <T extends z.ZodType>(element: T, description: string, max = MAX_ITEMS) =>
  z.array(element).max(max).optional().describe(description);

/** Fields that may be left out together. */
const part = <T extends z.ZodRawShape>(description: string, fields: T) =>
  z.strictObject(fields).optional().describe(description);

const identifier = (term: string) =>
  z.strictObject({
    id: name(`${term}: The identifier.`),
    scheme: code(`${term}-1: Its scheme, such as 0088 for a GLN (ISO/IEC 6523).`).optional(),
  });
const identifierOf = (term: string, what: string) => identifier(term).optional().describe(`${term}: ${what}`);

const address = (terms: readonly [string, string, string, string, string, string, string]) =>
  z.strictObject({
    line1: name(`${terms[0]}: Street and number.`).optional(),
    line2: name(`${terms[1]}: A further line.`).optional(),
    line3: name(`${terms[2]}: A further line.`).optional(),
    city: name(`${terms[3]}: City.`).optional(),
    postCode: name(`${terms[4]}: Post code.`).optional(),
    subdivision: name(`${terms[5]}: State or province.`).optional(),
    country: country(`${terms[6]}: Country code (ISO 3166-1).`),
  });

const contact = (terms: readonly [string, string, string]) =>
  z.strictObject({
    name: name(`${terms[0]}: A person or department.`).optional(),
    phone: name(`${terms[1]}: Telephone number.`).optional(),
    email: name(`${terms[2]}: E-mail address.`).optional(),
  });

const period = (start: string, end: string) =>
  z.strictObject({
    start: date(`${start}: First day.`).optional(),
    end: date(`${end}: Last day.`).optional(),
  });

const seller = z.strictObject({
  name: name('BT-27: Full name.'),
  tradingName: name('BT-28: Name that it is known by.').optional(),
  identifiers: list(identifier('BT-29'), 'BT-29: Identifiers of the seller.', 20),
  registration: identifierOf('BT-30', 'Registration of the legal entity.'),
  vatId: name('BT-31: VAT identifier, with its country code.').optional(),
  taxNumber: name('BT-32: Tax number of the country.').optional(),
  legalInformation: text('BT-33: Further legal information.', 1024).optional(),
  electronicAddress: identifierOf('BT-34', 'Electronic address.'),
  address: address(['BT-35', 'BT-36', 'BT-162', 'BT-37', 'BT-38', 'BT-39', 'BT-40']).describe(
    'BG-5: Address.',
  ),
  contact: contact(['BT-41', 'BT-42', 'BT-43']).optional().describe('BG-6: Contact.'),
});

const buyer = z.strictObject({
  name: name('BT-44: Full name.'),
  tradingName: name('BT-45: Name that it is known by.').optional(),
  identifier: identifierOf('BT-46', 'Identifier of the buyer.'),
  registration: identifierOf('BT-47', 'Registration of the legal entity.'),
  vatId: name('BT-48: VAT identifier, with its country code.').optional(),
  electronicAddress: identifierOf('BT-49', 'Electronic address.'),
  address: address(['BT-50', 'BT-51', 'BT-163', 'BT-52', 'BT-53', 'BT-54', 'BT-55'])
    .optional()
    .describe('BG-8: Address.'),
  contact: contact(['BT-56', 'BT-57', 'BT-58']).optional().describe('BG-9: Contact.'),
});

/** @param terms amount, base, percentage, reason and its code. */
const lineAdjustment = (terms: readonly [string, string, string, string, string]) =>
  z.strictObject({
    amount: decimal(`${terms[0]}: Amount without VAT.`),
    base: decimal(`${terms[1]}: What the percentage is of.`).optional(),
    percent: decimal(`${terms[2]}: Percentage.`).optional(),
    reason: text(`${terms[3]}: Reason.`, 1024).optional(),
    reasonCode: code(`${terms[4]}: Code of the reason (UNTDID 5189 or 7161).`).optional(),
  });

/** @param vat category and rate. */
const adjustment = (
  terms: readonly [string, string, string, string, string],
  vat: readonly [string, string],
) =>
  lineAdjustment(terms).extend({
    vatCategory: code(`${vat[0]}: VAT category, such as S.`),
    vatRate: decimal(`${vat[1]}: VAT rate in percent.`).optional(),
  });

const line = z.strictObject({
  id: name('BT-126: Identifier of the line, such as 1.'),
  note: text('BT-127: Note.').optional(),
  objectIdentifier: identifierOf('BT-128', 'What the line is invoiced for.'),
  quantity: decimal('BT-129: Quantity.'),
  unit: code(
    'BT-130: Unit of the quantity (UN/ECE Recommendation 20), such as C62 for pieces or HUR for hours.',
  ),
  net: decimal('BT-131: Net amount of the line.'),
  orderLine: name('BT-132: Line of the purchase order.').optional(),
  accountingReference: name('BT-133: Accounting reference of the buyer.').optional(),
  period: period('BT-134', 'BT-135').optional().describe('BG-26: Period of the line.'),
  allowances: list(
    lineAdjustment(['BT-136', 'BT-137', 'BT-138', 'BT-139', 'BT-140']),
    'BG-27: Allowances.',
    100,
  ),
  charges: list(lineAdjustment(['BT-141', 'BT-142', 'BT-143', 'BT-144', 'BT-145']), 'BG-28: Charges.', 100),
  price: z
    .strictObject({
      net: decimal('BT-146: Net price of an item.'),
      discount: decimal('BT-147: Discount on the gross price.').optional(),
      gross: decimal('BT-148: Gross price of an item.').optional(),
      baseQuantity: decimal('BT-149: Number of items that the price is for. Default 1.').optional(),
      baseUnit: code('BT-150: Unit of that number.').optional(),
    })
    .describe('BG-29: Price.'),
  vatCategory: code('BT-151: VAT category: S, Z, E, AE, K, G, O, L or M.'),
  vatRate: decimal('BT-152: VAT rate in percent.').optional(),
  name: text('BT-153: Name of the item.', 1024),
  description: text('BT-154: Description of the item.').optional(),
  sellerItemId: name("BT-155: The seller's identifier of the item.").optional(),
  buyerItemId: name("BT-156: The buyer's identifier of the item.").optional(),
  standardItemId: identifierOf('BT-157', 'Registered identifier, such as a GTIN.'),
  classifications: list(
    z.strictObject({
      code: name('BT-158: Code.'),
      scheme: code('BT-158-1: Its list (UNTDID 7143).'),
      version: name('BT-158-2: Version of the list.').optional(),
    }),
    'BT-158: Classifications of the item.',
    20,
  ),
  originCountry: country('BT-159: Country of origin (ISO 3166-1).').optional(),
  attributes: list(
    z.strictObject({ name: name('BT-160: Name.'), value: text('BT-161: Value.', 1024) }),
    'BG-32: Attributes of the item.',
    100,
  ),
});

const payment = z.strictObject({
  meansCode: code('BT-81: How it is paid (UNTDID 4461), such as 58 for a SEPA transfer.'),
  meansText: text('BT-82: How it is paid, in words.', 1024).optional(),
  remittance: name('BT-83: What the payment is to name.').optional(),
  transfers: list(
    z.strictObject({
      iban: name('BT-84: IBAN of the account that is paid to.').optional(),
      account: name('BT-84: Its number, where it has no IBAN.').optional(),
      accountName: name('BT-85: Name of the account.').optional(),
      bic: name('BT-86: BIC of the bank.').optional(),
    }),
    'BG-17: Accounts that may be paid to.',
    20,
  ),
  card: part('BG-18: Payment card.', {
    number: name('BT-87: The last digits of the card.'),
    holder: name('BT-88: Its holder.').optional(),
  }),
  directDebit: part('BG-19: Direct debit.', {
    mandate: name('BT-89: Reference of the mandate.').optional(),
    creditor: name('BT-90: Identifier of the creditor.').optional(),
    iban: name('BT-91: IBAN of the account that is debited.').optional(),
  }),
});

/** An invoice of EN 16931: what a template shows, and what is written as XML. */
export const invoiceSchema = z.strictObject({
  number: name('BT-1: Number of the invoice.'),
  issueDate: date('BT-2: Date of issue.'),
  typeCode: code('BT-3: Code of its kind (UNTDID 1001). Default: that of documentType, else 380.').optional(),
  currency: currency('BT-5: Currency (ISO 4217).'),
  taxCurrency: currency('BT-6: Currency of the VAT accounting, where it is another one.').optional(),
  taxPointDate: date('BT-7: When the VAT becomes due.').optional(),
  taxPointCode: code('BT-8: What decides when the VAT becomes due (UNTDID 2005).').optional(),
  dueDate: date('BT-9: When the payment is due.').optional(),
  buyerReference: name('BT-10: Reference of the buyer; for German authorities the Leitweg-ID.').optional(),
  projectReference: name('BT-11: Project.').optional(),
  contractReference: name('BT-12: Contract.').optional(),
  purchaseOrderReference: name('BT-13: Purchase order.').optional(),
  salesOrderReference: name('BT-14: Sales order.').optional(),
  receivingAdviceReference: name('BT-15: Receiving advice.').optional(),
  despatchAdviceReference: name('BT-16: Despatch advice.').optional(),
  tenderReference: name('BT-17: Tender or lot.').optional(),
  objectIdentifier: identifierOf('BT-18', 'What the invoice is for.'),
  accountingReference: name('BT-19: Accounting reference of the buyer.').optional(),
  paymentTerms: text('BT-20: Terms of payment.').optional(),
  notes: list(
    z.strictObject({
      subject: code('BT-21: Code of its subject (UNTDID 4451).').optional(),
      text: text('BT-22: Text.'),
    }),
    'BG-1: Notes.',
    100,
  ),
  businessProcess: name('BT-23: Business process.').optional(),
  precedingInvoices: list(
    z.strictObject({
      number: name('BT-25: Number.'),
      issueDate: date('BT-26: Date of issue.').optional(),
    }),
    'BG-3: Invoices that this one is about.',
    100,
  ),
  seller: seller.describe('BG-4: Seller.'),
  buyer: buyer.describe('BG-7: Buyer.'),
  payee: part('BG-10: Who is paid, if that is not the seller.', {
    name: name('BT-59: Name.'),
    identifier: identifierOf('BT-60', 'Identifier.'),
    registration: identifierOf('BT-61', 'Registration of the legal entity.'),
  }),
  taxRepresentative: part('BG-11: Tax representative of the seller.', {
    name: name('BT-62: Name.'),
    vatId: name('BT-63: VAT identifier.'),
    address: address(['BT-64', 'BT-65', 'BT-164', 'BT-66', 'BT-67', 'BT-68', 'BT-69']).describe(
      'BG-12: Address.',
    ),
  }),
  delivery: part('BG-13: Delivery.', {
    name: name('BT-70: Who it is delivered to.').optional(),
    location: identifierOf('BT-71', 'Identifier of the place.'),
    date: date('BT-72: Date of the delivery.').optional(),
    address: address(['BT-75', 'BT-76', 'BT-165', 'BT-77', 'BT-78', 'BT-79', 'BT-80'])
      .optional()
      .describe('BG-15: Address.'),
  }),
  period: period('BT-73', 'BT-74').optional().describe('BG-14: Period of the invoice.'),
  payment: payment.optional().describe('BG-16: Payment.'),
  allowances: list(
    adjustment(['BT-92', 'BT-93', 'BT-94', 'BT-97', 'BT-98'], ['BT-95', 'BT-96']),
    'BG-20: Allowances on the whole invoice.',
    100,
  ),
  charges: list(
    adjustment(['BT-99', 'BT-100', 'BT-101', 'BT-104', 'BT-105'], ['BT-102', 'BT-103']),
    'BG-21: Charges on the whole invoice.',
    100,
  ),
  totals: z
    .strictObject({
      lines: decimal('BT-106: Sum of the net amounts of the lines.'),
      allowances: decimal('BT-107: Sum of the allowances.').optional(),
      charges: decimal('BT-108: Sum of the charges.').optional(),
      withoutVat: decimal('BT-109: Total without VAT.'),
      vat: decimal('BT-110: Total of the VAT.').optional(),
      vatInTaxCurrency: decimal('BT-111: The same in the currency of BT-6.').optional(),
      withVat: decimal('BT-112: Total with VAT.'),
      prepaid: decimal('BT-113: Amount already paid.').optional(),
      rounding: decimal('BT-114: Amount by which the payment is rounded.').optional(),
      due: decimal('BT-115: Amount due for payment.'),
    })
    .describe('BG-22: Totals.'),
  vatBreakdown: z
    .array(
      z.strictObject({
        base: decimal('BT-116: Taxable amount.'),
        amount: decimal('BT-117: VAT.'),
        category: code('BT-118: VAT category.'),
        rate: decimal('BT-119: VAT rate in percent.').optional(),
        exemptionReason: text('BT-120: Why there is no VAT.', 1024).optional(),
        exemptionReasonCode: code('BT-121: Code of that reason (VATEX).').optional(),
      }),
    )
    .min(1)
    .max(100)
    .describe('BG-23: VAT by category and rate.'),
  supportingDocuments: list(
    z.strictObject({
      reference: name('BT-122: Reference.'),
      description: text('BT-123: Description.', 1024).optional(),
      location: text('BT-124: Its address.', 2048).optional(),
      file: part('BT-125: The document itself.', {
        content: z.base64().max(MAX_FILE).describe('BT-125: The file in base64.'),
        type: name('BT-125-1: Its media type, such as application/pdf.'),
        name: name('BT-125-2: Its name.'),
      }),
    }),
    'BG-24: Supporting documents.',
    100,
  ),
  lines: z
    .array(line)
    .min(1)
    .max(MAX_ITEMS)
    .optional()
    .describe('BG-25: Lines; only minimum and basicwl have none.'),
  extra: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Anything else that a template shows; it is not in the XML.'),
});

export type Invoice = z.output<typeof invoiceSchema>;
export type InvoiceLine = z.output<typeof line>;
