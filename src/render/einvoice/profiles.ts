/** What a profile of Factur-X (ZUGFeRD) is, in its XML and in its PDF. */
interface Profile {
  /** BT-24 as it is written. */
  readonly guideline: string;
  /** BT-24 as it may be, where that is not one text alone. */
  readonly guidelines?: RegExp;
  /** The profile in the name of its XSD. */
  readonly schema: 'MINIMUM' | 'BASICWL' | 'BASIC' | 'EN16931' | 'EXTENDED';
  /** The level in the XMP packet. */
  readonly level: string;
  readonly version: string;
  readonly fileName: string;
  /** What the XML is to the PDF: less than the document says, or all of it. */
  readonly relationship: 'Data' | 'Alternative';
  /** Whether it has lines. */
  readonly lines: boolean;
}

const FACTUR_X = { version: '1.0', fileName: 'factur-x.xml' } as const;

/** The profiles, from the smallest to the largest, and the German one. */
export const PROFILES = {
  minimum: {
    ...FACTUR_X,
    guideline: 'urn:factur-x.eu:1p0:minimum',
    schema: 'MINIMUM',
    level: 'MINIMUM',
    relationship: 'Data',
    lines: false,
  },
  basicwl: {
    ...FACTUR_X,
    guideline: 'urn:factur-x.eu:1p0:basicwl',
    schema: 'BASICWL',
    level: 'BASIC WL',
    relationship: 'Data',
    lines: false,
  },
  basic: {
    ...FACTUR_X,
    guideline: 'urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic',
    schema: 'BASIC',
    level: 'BASIC',
    relationship: 'Alternative',
    lines: true,
  },
  en16931: {
    ...FACTUR_X,
    guideline: 'urn:cen.eu:en16931:2017',
    schema: 'EN16931',
    level: 'EN 16931',
    relationship: 'Alternative',
    lines: true,
  },
  extended: {
    ...FACTUR_X,
    guideline: 'urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended',
    schema: 'EXTENDED',
    level: 'EXTENDED',
    relationship: 'Alternative',
    lines: true,
  },
  xrechnung: {
    guideline: 'urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0',
    guidelines: /^urn:cen\.eu:en16931:2017#compliant#urn:xeinkauf\.de:kosit:xrechnung_3\.\d$/,
    // XRechnung has rules of its own, and no elements beyond those of EN 16931.
    schema: 'EN16931',
    level: 'XRECHNUNG',
    version: '3.0',
    fileName: 'xrechnung.xml',
    relationship: 'Alternative',
    lines: true,
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = Object.keys(PROFILES) as [ProfileName, ...ProfileName[]];

export function profileOf(name: ProfileName): Profile {
  return PROFILES[name];
}

/** Names of files that an e-invoice has in its PDF. */
export const INVOICE_FILES: readonly string[] = ['factur-x.xml', 'xrechnung.xml'];

/** Kinds of invoices with their codes (BT-3, UNTDID 1001). */
export const DOCUMENT_TYPES = {
  invoice: '380',
  creditNote: '381',
  debitNote: '383',
  correctedInvoice: '384',
  prepaymentInvoice: '386',
  selfBilledInvoice: '389',
  selfBilledCreditNote: '261',
  partialInvoice: '326',
  partialConstructionInvoice: '875',
  partialFinalConstructionInvoice: '876',
  finalConstructionInvoice: '877',
  invoiceInformation: '751',
} as const;

export type DocumentType = keyof typeof DOCUMENT_TYPES;
export const DOCUMENT_TYPE_NAMES = Object.keys(DOCUMENT_TYPES) as [DocumentType, ...DocumentType[]];

/** What the XMP packet of an e-invoice says of its XML. */
export type InvoiceProfile = Pick<Profile, 'level' | 'version' | 'fileName'>;
