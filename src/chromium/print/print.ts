import type { Protocol } from 'puppeteer';
import { PlatenError } from '../../errors/registry.ts';
import { lengthInInches, PAPER_INCHES, type RenderOptions } from '../../jobs/render-options.ts';
import type { RenderPage } from '../page/render-page.ts';

/** Bytes asked for at a time. */
const CHUNK = 4 * 1024 * 1024;
/** Room for a header or footer on a side whose margin is not given: without it they would be printed over. Inches. */
const HEADER_MARGIN = 1 / 2.54;
/** Chromium puts a header and footer of its own where the template is empty. */
const NOTHING = '<span></span>';

type PrintParams = Protocol.Page.PrintToPDFRequest;

/** What a PDF ends with (ISO 32000-1, 7.5.5), as Skia writes it. */
const END_OF_FILE = Buffer.from('%%EOF\n');

/** The print settings that render options stand for. */
export function printSettings(options: RenderOptions): PrintParams {
  const [width, height] = PAPER_INCHES[options.format ?? 'A4'];
  const { margin, displayHeaderFooter = false, headerTemplate, footerTemplate } = options;
  const side = (length: string | undefined, template: string | undefined) =>
    length === undefined
      ? displayHeaderFooter && template
        ? HEADER_MARGIN
        : 0
      : (lengthInInches(length) ?? 0);
  return {
    paperWidth: width,
    paperHeight: height,
    landscape: options.landscape ?? false,
    printBackground: options.printBackground ?? true,
    scale: options.scale ?? 1,
    preferCSSPageSize: options.preferCSSPageSize ?? false,
    marginTop: side(margin?.top, headerTemplate),
    marginBottom: side(margin?.bottom, footerTemplate),
    marginLeft: side(margin?.left, undefined),
    marginRight: side(margin?.right, undefined),
    displayHeaderFooter,
    ...(displayHeaderFooter && {
      headerTemplate: headerTemplate || NOTHING,
      footerTemplate: footerTemplate || NOTHING,
    }),
    generateTaggedPDF: options.tagged ?? false,
    generateDocumentOutline: false,
  };
}

/**
 * Prints the page. The PDF is read in pieces, so that one without end is noticed before it is held in memory.
 *
 * @throws PlatenError OUTPUT_TOO_LARGE past `maxBytes`.
 */
export async function printPage(
  page: Pick<RenderPage, 'session'>,
  settings: PrintParams,
  maxBytes: number,
): Promise<Buffer> {
  const { session } = page;
  const { stream } = await session.send('Page.printToPDF', { ...settings, transferMode: 'ReturnAsStream' });
  const handle = stream!;
  const parts: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const { data, eof, base64Encoded } = await session.send('IO.read', { handle, size: CHUNK });
    const part = Buffer.from(data, base64Encoded ? 'base64' : 'latin1');
    parts.push(part);
    bytes += part.byteLength;
    if (eof || bytes > maxBytes || isLast(part)) break;
  }
  session.send('IO.close', { handle }).catch(() => undefined);
  if (bytes > maxBytes) {
    throw new PlatenError('OUTPUT_TOO_LARGE', `The PDF is larger than ${maxBytes} bytes.`);
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts, bytes);
}

/** Whether nothing comes after a piece: it is shorter than asked for, and ends as a PDF does. Saves asking once more. */
function isLast(part: Buffer): boolean {
  return part.byteLength < CHUNK && part.subarray(-END_OF_FILE.byteLength).equals(END_OF_FILE);
}
