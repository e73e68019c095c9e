import { z } from 'zod';
import { MARKER, type SealPlace } from '../seal/placeholder.ts';
import { KEY_ID, LEVELS } from '../seal/seal.ts';
import { defineOption } from './core/option.ts';
import { matches } from './core/text-checks.ts';
import { addressSchema, lineSchema } from './core/text-schemas.ts';

const MAX_ADDRESS = 2048;
/** What a request for a signature may take, with its repetitions, in milliseconds. */
const REQUEST_MS = 30_000;
/** Room for a signature of 16,384 bits with the certificates of its authorities, and for a time stamp. */
const PLACE_BYTES = 24 * 1024;
const TIMESTAMP_BYTES = 16 * 1024;

const key = z
  .strictObject({
    digestUrl: addressSchema(MAX_ADDRESS, ['https:'], 'must be an absolute https address')
      .check(withoutUser())
      .optional()
      .describe(
        'Your own server: the SHA-256 of the PDF is posted there, signed as callbacks are, and a detached CMS is expected.',
      ),
    keyId: z
      .string()
      .max(63)
      .check(
        matches(
          KEY_ID,
          'must be the name of a key: lower-case letters, digits, dots, dashes and underscores',
        ),
      )
      .optional()
      .describe('A key that the operator of the installation has assigned to the account.'),
  })
  .refine(({ digestUrl, keyId }) => (digestUrl === undefined) !== (keyId === undefined), {
    error: 'must have either digestUrl or keyId, such as {"keyId": "invoices"}',
  });

export const seal = defineOption(
  'seal',
  z.strictObject({
    key: key.describe('Whose key signs: one of the two.'),
    reason: lineSchema({ min: 1, max: 255 })
      .optional()
      .describe('Why the PDF is sealed, as readers of PDFs show it.'),
    location: lineSchema({ min: 1, max: 255 }).optional().describe('Where it is sealed.'),
    level: z
      .enum(LEVELS)
      .optional()
      .describe('The level of PAdES (ETSI EN 319 142-1): B-T has a time stamp of timestampUrl. Default B-B.'),
    timestampUrl: addressSchema(MAX_ADDRESS, ['https:', 'http:'], 'must be an absolute http or https address')
      .check(withoutUser())
      .optional()
      .describe('A time-stamp authority (RFC 3161), for level B-T.'),
  }),
  {
    stage: 'finish',
    order: 7,
    documentation:
      'Seals the PDF by an electronic signature (PAdES) of all its bytes, the last step of a render: readers of PDFs show who ' +
      'has sealed it, and that nothing has changed since. The signature is not drawn. Sealed PDFs of a batch cannot be merged.',
    rules: [
      {
        error:
          'must not be given with protection: leave one of them out, such as {"seal": {"key": {"keyId": "invoices"}}}',
        holds: (options) => options.seal === undefined || options.protection === undefined,
      },
      {
        error:
          'must have timestampUrl with level B-T, and with no other, such as {"seal": {"key": {"keyId": "invoices"}, "level": "B-T", "timestampUrl": "https://tsa.example.com"}}',
        holds: ({ seal: given }) => {
          const { level, timestampUrl } = Object(given) as Record<string, unknown>;
          return (level === 'B-T') === (timestampUrl !== undefined);
        },
      },
    ],
    takesMs: ({ key, timestampUrl }) =>
      [key.digestUrl, timestampUrl].filter((url) => url !== undefined).length * REQUEST_MS,
    finish: async ({ timestampUrl, reason, location }) => {
      const bytes = PLACE_BYTES + (timestampUrl === undefined ? 0 : TIMESTAMP_BYTES);
      const place: SealPlace = { marker: MARKER, bytes, at: Date.now(), reason, location };
      return { step: 'seal', argument: place };
    },
  },
);

function withoutUser() {
  return z.refine<string>(
    (text) => {
      const url = URL.parse(text);
      return url !== null && url.username + url.password === '';
    },
    { error: 'must be an address without a user name or password' },
  );
}
