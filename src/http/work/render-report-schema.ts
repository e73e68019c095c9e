import { z } from 'zod';
import { ACCESSIBILITY_RULES } from '../../render/report/accessibility.ts';
import { OBSERVATION_RULES } from '../../render/report/observation-rules.ts';
import { REQUEST_OUTCOMES } from '../../render/report/recorded-requests.ts';
import { LEVELS } from '../../render/seal/seal.ts';
import { attemptSchema, jobErrorSchema } from './attempt-schema.ts';

const count = z.int().min(0);

const request = z.strictObject({
  url: z
    .string()
    .describe(
      'Without user, password, fragment, and query values that may be secrets. Relative if it is so in the document and there is no baseUrl.',
    ),
  kind: z.string().describe('page, frame, stylesheet, image, font, script, fetch, websocket, ….'),
  outcome: z.enum(REQUEST_OUTCOMES),
  status: z.int().nullable().describe('Null without a response.'),
  rule: z
    .string()
    .nullable()
    .describe(
      'What decided the outcome: cache, blockRequests, egress, cors, content security policy, …; null if nothing did.',
    ),
  error: z.string().nullable(),
  bytes: count.describe('Bytes received; 0 if it came from the cache.'),
  startMs: count
    .optional()
    .describe(
      'Milliseconds from the beginning of the attempt to the request; absent in reports of earlier versions.',
    ),
  ms: count.describe('Milliseconds from the request to its end.'),
});

/** The report of a render. */
export const renderReportSchema = z
  .strictObject({
    success: z.literal(true),
    jobId: z.uuid(),
    status: z.string(),
    engine: z.string().describe('The browser and its version; empty where that was lost.'),
    attempts: z.array(attemptSchema).describe('In order. The rest of the report is about the last attempt.'),
    phases: z.array(z.strictObject({ name: z.string(), ms: count })),
    requests: z.array(request).describe('At most 500, with those of workers; without `data:` addresses.'),
    console: z.array(z.strictObject({ level: z.string(), text: z.string() })).describe('100 lines at most.'),
    exceptions: z.array(z.strictObject({ message: z.string(), at: z.string() })).describe('50 at most.'),
    fonts: z.array(
      z.strictObject({
        asked: z.array(z.string()).describe('As the style sheet names them.'),
        used: z.array(z.strictObject({ family: z.string(), webFont: z.boolean() })),
      }),
    ),
    missingGlyphs: z
      .array(z.strictObject({ character: z.string(), codePoint: z.string(), page: count, count }))
      .describe(
        'Characters that no font has, at most 200. U+FFFD stands for a character that could not be determined; for each font there is one such entry.',
      ),
    observations: z
      .array(
        z.strictObject({
          rule: z.enum(OBSERVATION_RULES),
          message: z.string(),
          selector: z.string().nullable(),
          page: z.int().min(1).nullable(),
        }),
      )
      .describe('Findings of an inspection of the document and of its printed pages, at most 60.'),
    accessibility: z
      .array(
        z.strictObject({
          rule: z.enum(ACCESSIBILITY_RULES),
          message: z.string(),
          selector: z.string().nullable(),
          page: z.int().min(1).nullable(),
          whose: z
            .enum(['document', 'font'])
            .describe('What has to be mended: the document, or the fonts that it is printed with.'),
        }),
      )
      .describe('With `conformance`: what only the author of the document can mend, 100 at most.'),
    waits: z.array(
      z.strictObject({ name: z.string(), ms: count, outcome: z.enum(['reached', 'given up', 'failed']) }),
    ),
    pages: count.describe('0 when it has failed.'),
    size: count.describe('Bytes of the PDF; 0 when it has failed.'),
    seal: z
      .strictObject({
        level: z.enum(LEVELS).describe('Of PAdES.'),
        subject: z.string().describe('Whom the certificate names, as one line.'),
        issuer: z.string().describe('Who has issued the certificate.'),
        serialNumber: z.string().describe('Of the certificate, in hexadecimal digits.'),
        validUntil: z.iso.datetime().describe('When the certificate ends.'),
        timestamp: z
          .strictObject({
            time: z.iso.datetime().describe('When the PDF was there at the latest.'),
            authority: z.string().describe('Whom its certificate names, as one line.'),
          })
          .meta({ id: 'RenderReportTimestamp' })
          .nullable()
          .describe('Of levels B-T and B-LT.'),
      })
      .meta({ id: 'RenderReportSeal' })
      .nullable()
      .describe('Who has sealed the PDF; null without the option `seal`, and when the render has failed.'),
    error: jobErrorSchema.nullable(),
    picture: z
      .strictObject({ mediaType: z.string(), data: z.string().describe('Base64.') })
      .meta({ id: 'RenderReportPicture' })
      .nullable()
      .describe('The page at the moment when the render failed, if it could be drawn.'),
    warnings: z.array(z.string()).describe('Problems that the author of the document can correct.'),
    truncated: z.array(z.string()).describe('The lists that were shortened.'),
  })
  .meta({ id: 'RenderReport' });
