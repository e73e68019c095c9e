import { z } from 'zod';
import { MARKER, type SealPlace } from '../seal/placeholder.ts';
import { KEY_ID, LEVELS } from '../seal/seal.ts';
import { defineOption } from './core/option.ts';
import { appearanceOf, visibleSchema } from './core/seal-appearance.ts';
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
      .describe(
        'The level of PAdES (ETSI EN 319 142-1): B-T has a time stamp of timestampUrl; B-LT also what it takes to check the seal when its certificates have ended (certificates, OCSP responses, revocation lists). Default B-B.',
      ),
    timestampUrl: addressSchema(MAX_ADDRESS, ['https:', 'http:'], 'must be an absolute http or https address')
      .check(withoutUser())
      .optional()
      .describe('A time-stamp authority (RFC 3161), for levels B-T and B-LT.'),
    visible: visibleSchema
      .optional()
      .describe(
        'Draws the seal on a page. Without it the seal is not drawn, and readers of PDFs show it all the same.',
      ),
  }),
  {
    stage: 'finish',
    order: 7,
    documentation:
      'Seals the PDF by an electronic signature (PAdES) of all its bytes, the last step of a render: readers of PDFs show who ' +
      'has sealed it, and that nothing has changed since. Sealed PDFs of a batch cannot be merged.',
    rules: [
      {
        error:
          'must not be given with protection: leave one of them out, such as {"seal": {"key": {"keyId": "invoices"}}}',
        holds: (options) => options.seal === undefined || options.protection === undefined,
      },
      {
        error:
          'must have timestampUrl with levels B-T and B-LT, and with no other, such as {"seal": {"key": {"keyId": "invoices"}, "level": "B-T", "timestampUrl": "https://tsa.example.com"}}',
        holds: ({ seal: given }) => {
          const { level, timestampUrl } = Object(given) as Record<string, unknown>;
          return (level === 'B-T' || level === 'B-LT') === (timestampUrl !== undefined);
        },
      },
    ],
    takesMs: ({ key, timestampUrl, level }) =>
      [key.digestUrl !== undefined, timestampUrl !== undefined, level === 'B-LT'].filter(Boolean).length *
      REQUEST_MS,
    finish: async ({ timestampUrl, reason, location, visible }, stage) => {
      const bytes = PLACE_BYTES + (timestampUrl === undefined ? 0 : TIMESTAMP_BYTES);
      const texts = { at: Date.now(), reason, location };
      const place: SealPlace = {
        ...{ marker: MARKER, bytes, ...texts },
        visible: visible && (await appearanceOf(visible, texts, stage)),
      };
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
