import { z } from 'zod';
import { fileNameError } from '../../infra/outputs/file-name.ts';
import { type Attachment, RELATIONSHIPS } from '../pdf/attachment.ts';
import { defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { holds, isBase64, matches } from './core/text-checks.ts';
import { lineSchema } from './core/text-schemas.ts';

const MAX_FILES = 20;
/** Characters of a file in base64. A body of that size is refused under every plan: see `maxInputSizeBytes`. */
const MAX_CONTENT = 15 * 1024 * 1024;
/** RFC 6838, section 4.2, without `#`, which has another meaning in names of PDFs. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!$&^_.+-]{0,126}$/i;

const attachment = z.strictObject({
  name: lineSchema({ min: 1, max: 255 })
    .check(
      holds(
        (name) => fileNameError(name) === undefined,
        ({ input }) => fileNameError(String(input)) ?? '',
      ),
    )
    .overwrite((name) => name.normalize('NFC'))
    .describe('The name under which readers save the file.'),
  type: z
    .string()
    .max(255)
    .check(matches(MEDIA_TYPE, 'must be a media type without parameters, such as text/csv'))
    .overwrite((type) => type.toLowerCase())
    .optional()
    .describe('Its media type. Default application/octet-stream.'),
  content: z.string().max(MAX_CONTENT).check(isBase64()).describe('The bytes of the file in base64.'),
  relationship: z
    .enum(RELATIONSHIPS)
    .optional()
    .describe('What the file is to the document. Default Unspecified.'),
  description: lineSchema({ min: 1, max: 255 }).optional().describe('What readers show of the file.'),
});

export const attachments = defineOption(
  'attachments',
  shortList(attachment, MAX_FILES).superRefine((files, context) => {
    const first = new Map<string, number>();
    for (const [i, { name }] of files.entries()) {
      // A name in other letters is the same file on many systems.
      const key = name.toLowerCase();
      const other = first.get(key);
      if (other === undefined) first.set(key, i);
      else {
        const message = `is the name of attachments[${other}] too: give each file another one`;
        context.addIssue({ code: 'custom', path: [i, 'name'], message });
      }
    }
  }),
  {
    stage: 'finish',
    order: 2,
    rules: [
      {
        error:
          'must not be given with conformance to another part of PDF/A than the third, which alone takes files of any type: give {"conformance": {"pdfa": "3b"}}',
        holds: ({ attachments: files, conformance }) =>
          !Array.isArray(files) || files.length === 0 || takesFiles(conformance),
      },
    ],
    documentation:
      'Files to put into the PDF, as associated files of the document (`AF`). They count as part of the body. The merged PDF ' +
      'of a batch has no attachments.',
    async finish(files) {
      if (files.length === 0) return undefined;
      const argument = files.map(
        ({ type = 'application/octet-stream', relationship = 'Unspecified', ...file }) => ({
          ...file,
          type,
          relationship,
        }),
      );
      return { step: 'attachments', argument: argument satisfies Attachment[] };
    },
  },
);

/** Whether a PDF that conforms may have files of any type: PDF/A-2 and PDF/A-4 may not (ISO 19005-3, 6.8). */
function takesFiles(conformance: unknown): boolean {
  const { pdfa } = Object(conformance) as { readonly pdfa?: unknown };
  return pdfa === undefined || String(pdfa).startsWith('3');
}
