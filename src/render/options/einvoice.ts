import { z } from 'zod';
import {
  DOCUMENT_TYPE_NAMES,
  INVOICE_FILES,
  PROFILE_NAMES,
  type ProfileName,
  profileOf,
} from '../einvoice/profiles.ts';
import type { Attachment } from '../pdf/attachment.ts';
import { defineOption } from './core/option.ts';
import { documentSchema } from './core/text-schemas.ts';

/** Characters; in UTF-8 it may have as many bytes. */
const MAX_XML = 1024 * 1024;
const EXAMPLE = '{"einvoice": {"profile": "en16931", "data": {"number": "2026-0066"}}}';

/** A given value, which may be of any kind. */
const field = (value: unknown, name: string): unknown =>
  (Object(value) as Readonly<Record<string, unknown>>)[name];

export const einvoice = defineOption(
  'einvoice',
  z
    .strictObject({
      profile: z
        .enum(PROFILE_NAMES)
        .describe(
          'How much the XML says: the profiles of Factur-X and ZUGFeRD from the smallest to the largest, and the German XRechnung.',
        ),
      data: z
        .record(z.string(), z.unknown())
        .optional()
        .describe(
          'The invoice as JSON, of which the XML is written: see the guide for its fields, and the JSON Schema. A template needs neither `data` nor `xml` here: its own `data` is the invoice then.',
        ),
      xml: documentSchema({ min: 1, max: MAX_XML })
        .optional()
        .describe(
          'The invoice as XML instead: a CrossIndustryInvoice (UN/CEFACT D16B) of the profile, in UTF-8.',
        ),
      documentType: z
        .enum(DOCUMENT_TYPE_NAMES)
        .optional()
        .describe(
          'What the invoice is (BT-3). Of XML and data that say something else, it is an error. Default invoice, unless they say it.',
        ),
    })
    .refine(({ xml, data }) => xml === undefined || data === undefined, {
      error: `must have either xml or data, such as ${EXAMPLE}`,
    }),
  {
    stage: 'finish',
    // After the files of the caller.
    order: 3,
    documentation:
      'Makes the PDF an e-invoice of Factur-X (ZUGFeRD) or XRechnung: the XML of the invoice is in it, and it is PDF/A-3. The ' +
      'invoice is checked before anything is rendered; an error is EINVOICE_INVALID and names the business terms. The merged ' +
      'PDF of a batch is no e-invoice.',
    rules: [
      {
        error:
          'must not be given with protection, since PDF/A forbids encryption: leave one of them out, such as {"protection": {"userPassword": "a secret"}}',
        holds: (options) => options.einvoice === undefined || options.protection === undefined,
      },
      {
        error:
          'must not be given with conformance to another part of PDF/A than the third, which alone takes the XML: give {"conformance": {"pdfa": "3b"}}, or leave conformance out',
        holds: ({ einvoice: invoice, conformance }) => {
          const level = field(conformance, 'pdfa');
          return invoice === undefined || level === undefined || String(level).startsWith('3');
        },
      },
      {
        error:
          'must not be given with an attachment that is named factur-x.xml or xrechnung.xml, as its own file is: name it otherwise, such as {"attachments": [{"name": "order.xml", "content": "PG8vPg=="}]}',
        holds: ({ einvoice: invoice, attachments }) =>
          invoice === undefined ||
          !Array.isArray(attachments) ||
          !attachments.some((file) => INVOICE_FILES.includes(String(field(file, 'name')).toLowerCase())),
      },
    ],
    async finish({ profile, xml }) {
      if (xml === undefined) throw new Error('The invoice has not been written as XML.');
      return { step: 'attachments', argument: [fileOf(profile, xml)] satisfies Attachment[] };
    },
  },
);

function fileOf(profile: ProfileName, xml: string): Attachment {
  const { fileName, relationship } = profileOf(profile);
  return {
    name: fileName,
    type: 'text/xml',
    content: Buffer.from(xml).toString('base64'),
    relationship,
    description: 'The invoice as XML',
  };
}
