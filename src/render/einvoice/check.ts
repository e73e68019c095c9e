import { XmlDocument, XmlParseError, XmlValidateError } from 'libxml2-wasm';
import type { z } from 'zod';
import { checkArithmetic, checkTaxCurrency } from './arithmetic.ts';
import { checkCodes } from './check-codes.ts';
import { crossIndustryInvoice } from './cii.ts';
import { factsOf } from './facts.ts';
import { invoiceSchema } from './invoice-schema.ts';
import { DOCUMENT_TYPES, type DocumentType, type ProfileName, profileOf } from './profiles.ts';
import { quoted, Report } from './report.ts';
import { checkRules } from './rules.ts';
import { NAMESPACES, PARSE_OPTIONS, schemaOf } from './schemas.ts';
import { schemaFaults, termAt } from './terms.ts';
import { one, textAt, treeOf } from './tree.ts';
import { writeXml } from './write-xml.ts';
import { checkXRechnung } from './xrechnung.ts';

/** An invoice as it was sent. */
export interface EinvoiceCall {
  readonly profile: ProfileName;
  readonly documentType?: DocumentType | undefined;
  /** One of both. `data` is the invoice as JSON. */
  readonly xml?: string | undefined;
  readonly data?: string | undefined;
}

/** The XML of the invoice; or what is wrong with it, each as a sentence that names the business term. */
export type CheckedEinvoice = { readonly xml: string } | { readonly faults: readonly string[] };

/** Bytes of the XML in UTF-8. */
export const MAX_XML_BYTES = 1024 * 1024;
const MAX_FAULTS = 20;

/** Writes the XML of an invoice unless it has one, and checks it: by the schema of its profile, and by the rules of EN 16931. */
export function checkEinvoice({ data, ...call }: EinvoiceCall): CheckedEinvoice {
  if (data === undefined) return checkXml(call.xml ?? '', call);
  const { success, data: invoice, error } = invoiceSchema.safeParse(JSON.parse(data), { error: worded });
  if (!success) return { faults: error.issues.flatMap(dataFaults).slice(0, MAX_FAULTS) };
  const { guideline, lines } = profileOf(call.profile);
  if (lines && invoice.lines === undefined)
    return { faults: [`BG-25 (lines): is required by the profile ${call.profile}`] };
  if (invoice.totals.rounding !== undefined && !hasRounding(call.profile))
    return {
      faults: [
        `BT-114 (totals.rounding): the profile ${call.profile} has none: choose en16931, or leave it out`,
      ],
    };
  const typeCode = DOCUMENT_TYPES[call.documentType ?? 'invoice'];
  const written = crossIndustryInvoice(withDefaults(invoice, call.profile), guideline, typeCode);
  return checkXml(writeXml(written, schemaOf(call.profile)), call);
}

/** The smallest profile leaves out more than that, and its amounts are not compared. */
function hasRounding(profile: ProfileName): boolean {
  const totals = schemaOf(profile).types.get('ram:TradeSettlementHeaderMonetarySummationType');
  return profile === 'minimum' || totals?.children.some(({ name }) => name === 'RoundingAmount') === true;
}

/** XRechnung wants a business process, which for all but a few invoices is the usual one. */
function withDefaults(invoice: z.output<typeof invoiceSchema>, profile: ProfileName) {
  const businessProcess = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';
  return profile === 'xrechnung' ? { businessProcess, ...invoice } : invoice;
}

function checkXml(xml: string, call: Omit<EinvoiceCall, 'data'>): CheckedEinvoice {
  const bytes = Buffer.from(xml);
  if (bytes.length > MAX_XML_BYTES)
    return { faults: [`the XML has ${bytes.length} bytes, and may have ${MAX_XML_BYTES}`] };
  // Nothing of it is needed in an invoice, and entities can grow without end.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml))
    return { faults: ['the XML must have no DOCTYPE and no entities of its own'] };
  const encoding = /^\uFEFF?<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(xml)?.[1] ?? 'UTF-8';
  if (encoding.toUpperCase() !== 'UTF-8')
    return { faults: [`the XML must be in UTF-8, and says that it is in ${quoted(encoding)}`] };
  try {
    using document = XmlDocument.fromBuffer(bytes, { option: PARSE_OPTIONS });
    const faults = faultsOf(document, call);
    return faults.length > 0 ? { faults } : { xml };
  } catch (error) {
    if (!(error instanceof XmlParseError)) throw error;
    return { faults: [`the XML cannot be read: ${oneLine(error.message)}`] };
  }
}

function faultsOf(
  document: XmlDocument,
  { profile: name, documentType }: Omit<EinvoiceCall, 'data' | 'xml'>,
): readonly string[] {
  const { root } = document;
  if (root.name !== 'CrossIndustryInvoice' || root.namespaceUri !== NAMESPACES.rsm)
    return [`the XML must be a CrossIndustryInvoice (UN/CEFACT D16B), and its root is ${quoted(root.name)}`];
  const profile = profileOf(name);
  const guideline = document.eval(
    'string(/*/rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID)',
    NAMESPACES,
  ) as string;
  const isOfProfile = profile.guidelines?.test(guideline.trim()) ?? guideline.trim() === profile.guideline;
  if (!isOfProfile)
    return [
      `BT-24: is ${quoted(guideline.trim())}, and the profile ${name} has ${quoted(profile.guideline)}`,
    ];
  try {
    schemaOf(name).validator.validate(document);
  } catch (error) {
    if (!(error instanceof XmlValidateError)) throw error;
    return schemaFaults(error.details.slice(0, MAX_FAULTS), document);
  }
  const report = new Report();
  const tree = treeOf(root);
  const facts = factsOf(tree);
  const type = textAt(one(tree, 'ExchangedDocument'), 'TypeCode');
  if (documentType !== undefined && type !== DOCUMENT_TYPES[documentType])
    report.add(
      'BT-3',
      undefined,
      `is ${quoted(type)}, and documentType ${documentType} has ${DOCUMENT_TYPES[documentType]}`,
    );
  checkCodes(tree, name === 'extended', report);
  checkRules(facts, { hasLines: profile.lines, isMinimum: name === 'minimum' }, report);
  checkArithmetic(facts, profile.lines, report);
  checkTaxCurrency(facts, report);
  if (name === 'xrechnung') checkXRechnung(facts, report);
  return report.faults;
}

/** What is wrong with the data, with the term and the field. */
function dataFaults(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${fieldOf([...issue.path, key])}: is not known`);
  const term = termAt(issue.path);
  const field = fieldOf(issue.path);
  return [`${term === undefined ? '' : `${term} `}(${field}): ${issue.message}`];
}

/** Messages that continue a sentence; those of the schema itself come first. */
function worded(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'too_big':
      return `must have at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'items'}`;
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must have at least ${issue.minimum} items`;
    default:
      return undefined;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  object: 'an object',
  array: 'a list',
  record: 'an object',
};

function fieldOf(path: readonly PropertyKey[]): string {
  return (
    path
      .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part).slice(0, 64)}`))
      .join('')
      .replace(/^\./, '') || 'the data'
  );
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ').slice(0, 200);
}
