import { z } from 'zod';
import { PERMISSIONS, type Protection } from '../pdf/protection.ts';
import { defineOption, MASK } from './core/option.ts';
import { holds } from './core/text-checks.ts';
import { lineSchema } from './core/text-schemas.ts';

/** Bytes in UTF-8 of a password that readers take (ISO 32000-2, 7.6.4.3.2). */
const MAX_BYTES = 127;

/** In the form to which readers bring what is typed (RFC 4013, which ISO 32000-2 names). */
const password = lineSchema({ min: 1, max: MAX_BYTES })
  .overwrite((text) =>
    text
      .replace(/\p{Zs}/gu, ' ')
      .replace(/\u00ad/g, '')
      .normalize('NFKC'),
  )
  .check(
    holds(
      (text) => text !== '' && Buffer.byteLength(text) <= MAX_BYTES,
      `must have at most ${MAX_BYTES} bytes in UTF-8`,
    ),
  );

const permissions = z.strictObject({
  print: z.enum(PERMISSIONS.print).optional().describe('`low`: as a picture of few dots. Default `high`.'),
  copy: z.boolean().optional().describe('Copying text and pictures. Default true.'),
  modify: z.boolean().optional().describe('Changing the document. Default true.'),
  annotate: z.boolean().optional().describe('Notes, and filling in forms. Default true.'),
  fillForms: z.boolean().optional().describe('Filling in forms, also without `annotate`. Default true.'),
  assemble: z.boolean().optional().describe('Adding, turning and removing pages. Default true.'),
  accessibility: z
    .boolean()
    .optional()
    .describe('Reading the text aloud, also without `copy`. Default true.'),
});

export const protection = defineOption(
  'protection',
  z
    .strictObject({
      userPassword: password.optional().describe('Opens the PDF. Without it, everyone can open it.'),
      ownerPassword: password
        .optional()
        .describe('Opens the PDF, and lifts its permissions. Without it, nothing lifts them.'),
      permissions: permissions.optional().describe('What readers of the PDF are asked to allow.'),
    })
    .refine((value) => Object.values(value).some((field) => field !== undefined), {
      error: 'must have a password or permissions, such as {"userPassword": "a secret"}',
    })
    .refine(differ, {
      path: ['ownerPassword'],
      error: 'must be another one than userPassword, which would lift the permissions as well',
    }),
  {
    stage: 'finish',
    order: 8,
    documentation:
      'Encrypts the PDF, every text and stream of it, by AES-256 (revision 6). Permissions are a request to readers of ' +
      'PDFs, which some ignore. Protected PDFs of a batch cannot be merged.',
    rules: [
      {
        error:
          'must not be given with conformance, since PDF/A forbids encryption: leave one of them out, such as {"protection": {"userPassword": "a secret"}}',
        holds: (options) => options.protection === undefined || options.conformance === undefined,
      },
    ],
    mask: ({ userPassword, ownerPassword, ...rest }, replace) => ({
      ...(userPassword !== undefined && { userPassword: replace(userPassword) }),
      ...(ownerPassword !== undefined && { ownerPassword: replace(ownerPassword) }),
      ...rest,
    }),
    finish: async (value) => ({ step: 'protection', argument: value satisfies Protection }),
  },
);

/** Two that are masked may be any. */
function differ({ userPassword, ownerPassword }: Protection): boolean {
  return userPassword === undefined || userPassword !== ownerPassword || userPassword === MASK;
}
