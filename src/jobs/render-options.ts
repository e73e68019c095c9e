import { z } from 'zod';
import { shortList, shortRecord } from './short-list.ts';

type Size = readonly [width: number, height: number];

const millimetres = (width: number, height: number): Size => [width / 25.4, height / 25.4];

/** Paper formats in inches, upright, by their definitions: ISO 216 in millimetres, the American ones in inches. */
export const PAPER_INCHES = {
  Letter: [8.5, 11],
  Legal: [8.5, 14],
  Tabloid: [11, 17],
  A3: millimetres(297, 420),
  A4: millimetres(210, 297),
  A5: millimetres(148, 210),
} as const satisfies Record<string, Size>;

export type PaperFormat = keyof typeof PAPER_INCHES;

/** CSS absolute units in inches (CSS Values 4, section 6.2). A bare number counts as pixels. */
const UNIT_INCHES: Record<string, number> = {
  px: 1 / 96,
  in: 1,
  cm: 1 / 2.54,
  mm: 1 / 25.4,
  pt: 1 / 72,
  pc: 1 / 6,
  q: 1 / 101.6,
};

/** Characters of a length, spaces around it included. */
const MAX_LENGTH_CHARS = 32;

/** Inches of a length such as `12mm`; undefined when it is not a non-negative absolute length, or too long a text. */
export function lengthInInches(length: string): number | undefined {
  if (length.length > MAX_LENGTH_CHARS) return undefined;
  // Trimmed before: two runs of spaces that may follow each other take the square of their length to match.
  const match = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)$/i.exec(length.trim());
  if (!match) return undefined;
  const perUnit = UNIT_INCHES[(match[2] || 'px').toLowerCase()];
  return perUnit === undefined ? undefined : Number(match[1]) * perUnit;
}

const length = z
  .string()
  .max(MAX_LENGTH_CHARS, { abort: true })
  .refine(
    (text) => lengthInInches(text) !== undefined,
    'must be a length such as 12mm, 0.5in, 1cm, 36pt or 48px',
  );

/** A field value as RFC 9110 section 5.5 allows it: no line breaks, no control characters. */
const headerValue = z
  .string()
  .max(8192, { abort: true })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  .regex(/^[^\u0000-\u0008\u000a-\u001f\u007f]*$/, 'must not hold line breaks or control characters');
const MAX_ASSET_HEADERS = 50;
const headerName = z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/, 'must be an HTTP header name');

/**
 * Headers that describe the connection or the message frame, choose the host, or turn a request into another: never the
 * caller's to set. The last ones, and all that begin with FORBIDDEN_PREFIX, Chromium refuses: the request hangs then.
 */
const FORBIDDEN_ASSET_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'cookie2',
  'set-cookie',
  'set-cookie2',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);
const FORBIDDEN_PREFIX = 'proxy-';

function isForbidden(name: string): boolean {
  const lowered = name.toLowerCase();
  return FORBIDDEN_ASSET_HEADERS.has(lowered) || lowered.startsWith(FORBIDDEN_PREFIX);
}

/** Whether the margins leave some of the paper. Asked of options with other faults too, so that all are told at once. */
function leaveRoom(options: unknown): boolean {
  const { format, landscape, preferCSSPageSize, margin } = (options ?? {}) as Record<string, unknown>;
  // The document chooses its paper, which is not known before.
  if (preferCSSPageSize === true || typeof margin !== 'object' || margin === null) return true;
  const known = typeof format === 'string' && Object.hasOwn(PAPER_INCHES, format);
  const [short, long] = PAPER_INCHES[known ? (format as PaperFormat) : 'A4'];
  const [width, height] = landscape === true ? [long, short] : [short, long];
  const inches = (side: unknown) => (typeof side === 'string' ? lengthInInches(side) : undefined) ?? 0;
  const { top, right, bottom, left } = margin as Record<string, unknown>;
  return inches(left) + inches(right) < width && inches(top) + inches(bottom) < height;
}

/** Whether it is a scheme, a host and perhaps a port, and nothing else. */
function isOrigin(text: string): boolean {
  const url = /^https?:\/\/[^/?#@*\\\s]+\/?$/i.test(text) ? URL.parse(text) : null;
  return url !== null;
}

const text255 = z.string().max(255);

/** The contract's render options object (interface: "Render options object"). Unknown fields are refused. */
export const renderOptionsSchema = z
  .strictObject({
    format: z.enum(['Letter', 'A4', 'A5', 'A3', 'Legal', 'Tabloid']).describe('Paper format. Default A4.'),
    landscape: z.boolean().describe('Default false.'),
    printBackground: z.boolean().describe('Print background colours and images. Default true.'),
    margin: z
      .strictObject({ top: length, right: length, bottom: length, left: length })
      .partial()
      .describe('Lengths with a unit (px, in, cm, mm, pt, pc, Q). Default 0 on each side.'),
    displayHeaderFooter: z
      .boolean()
      .describe('Print headerTemplate and footerTemplate in the margins. Default false.'),
    headerTemplate: z
      .string()
      .max(5000)
      .describe('HTML; classes date, title, url, pageNumber and totalPages are filled in.'),
    footerTemplate: z.string().max(5000).describe('HTML, as headerTemplate.'),
    scale: z.number().min(0.1).max(2).describe('Default 1.'),
    preferCSSPageSize: z.boolean().describe("Let the document's @page size win over format. Default false."),
    waitUntil: z.enum(['load', 'domcontentloaded', 'networkidle']).describe('Default load.'),
    waitForSelector: z
      .string()
      .min(1)
      .max(255)
      .describe('A CSS selector that must be in the document before it is printed.'),
    delayMs: z.int().min(0).max(60_000).describe('Milliseconds to wait after loading. Default 0.'),
    timeoutMs: z
      .int()
      .min(1000)
      .max(300_000)
      .describe("Deadline of the whole render. Default 30,000 and delayMs, at most the plan's."),
    watermark: z.strictObject({
      text: z.string().min(1).max(120),
      opacity: z.number().min(0.02).max(0.6).optional().describe('Default 0.15.'),
      rotation: z.number().min(-90).max(90).optional().describe('Degrees, counter-clockwise. Default 45.'),
      color: z.string().min(1).max(40).optional().describe('A CSS colour. Default #888888.'),
    }),
    metadata: z
      .strictObject({
        title: text255,
        author: text255,
        subject: text255,
        creator: text255,
        producer: text255,
        keywords: shortList(text255, 20),
      })
      .partial(),
    javascriptEnabled: z.boolean().describe('Default true.'),
    csp: z
      .string()
      .max(2000, { abort: true })
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
      .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not hold line breaks or control characters')
      .describe('A Content-Security-Policy that the document is loaded under.'),
    assetHeaders: shortRecord(
      z.record(headerName, headerValue),
      MAX_ASSET_HEADERS,
      `must not hold more than ${MAX_ASSET_HEADERS} headers`,
    )
      .superRefine((headers, context) => {
        for (const name of Object.keys(headers)) {
          if (isForbidden(name)) {
            context.addIssue({ code: 'custom', path: [name], message: 'is a header that may not be set' });
          }
        }
      })
      .describe(
        "Sent when protected assets are fetched: to the source URL's origin, or to the origins (scheme, host and port) " +
          "that the HTML's own markup or the template's source names; never to those that come from filled-in data.",
      ),
    assetOrigins: shortList(
      z
        .string()
        .max(300, { abort: true })
        .refine(isOrigin, 'must be an origin such as https://assets.example or http://assets.example:8080'),
      20,
    ).describe('The origins that assetHeaders are sent to, in place of those that are found.'),
    tagged: z
      .boolean()
      .describe('Write a tagged (accessible) PDF; costs about a quarter of the speed. Default false.'),
  })
  .partial()
  .refine(leaveRoom, { path: ['margin'], error: 'must leave room to print on', when: () => true })
  .meta({ id: 'RenderOptions' });

export type RenderOptions = z.infer<typeof renderOptionsSchema>;
export type WatermarkOptions = NonNullable<RenderOptions['watermark']>;
export type MetadataOptions = NonNullable<RenderOptions['metadata']>;
