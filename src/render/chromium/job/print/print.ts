import { PlatenError } from '../../../../infra/errors/registry.ts';
import type { PrintSettings } from '../../../options/core/option.ts';
import type { RenderPage } from '../../page/render-page.ts';

/**
 * A page whose last PDF had at most this many bytes is expected to print another that fits into a message. Its size is
 * not known beforehand, and one that does not fit is printed twice.
 */
const INLINE = 1024 * 1024;
/** What is used of a page. Without `printInline`, PDFs are read in pieces alone. */
type PrintedPage = Pick<RenderPage, 'session'> & Partial<Pick<RenderPage, 'printInline' | 'printedBytes'>>;

/** Bytes requested at a time. */
const CHUNK = 4 * 1024 * 1024;
/** The end of a PDF (ISO 32000-1, 7.5.5), as Skia writes it. */
const END_OF_FILE = Buffer.from('%%EOF\n');

/**
 * Prints the page. A PDF is read in pieces, so that an endless one is noticed before it is held in memory, unless the page's
 * last one was small: two commands fewer, and half a millisecond of processor time of some twelve for an invoice.
 *
 * @throws PlatenError OUTPUT_TOO_LARGE above `maxBytes`, PAGE_RANGE_INVALID for pages that the document does not have.
 */
export async function printPage(
  page: PrintedPage,
  settings: PrintSettings,
  maxBytes: number,
): Promise<Buffer> {
  try {
    const small = page.printedBytes !== undefined && page.printedBytes <= Math.min(INLINE, maxBytes);
    const inline = small ? await page.printInline?.(settings) : undefined;
    const pdf =
      inline === undefined ? await printStream(page, settings, maxBytes) : Buffer.from(inline, 'base64');
    page.printedBytes = pdf.byteLength;
    if (pdf.byteLength > maxBytes) {
      throw new PlatenError('OUTPUT_TOO_LARGE', `The PDF is larger than ${maxBytes} bytes.`);
    }
    return pdf;
  } catch (error) {
    const { message } = error as Error;
    throw settings.pageRanges && /page range/i.test(message)
      ? pageRangeError(settings, error as Error)
      : error;
  }
}

/** @returns at least a part of a PDF that is larger than `maxBytes`, which is larger as well. */
async function printStream(
  { session }: PrintedPage,
  settings: PrintSettings,
  maxBytes: number,
): Promise<Buffer> {
  const printing = await session.send('Page.printToPDF', { ...settings, transferMode: 'ReturnAsStream' });
  const handle = printing.stream!;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const { data, eof, base64Encoded } = await session.send('IO.read', { handle, size: CHUNK });
    const chunk = Buffer.from(data, base64Encoded ? 'base64' : 'latin1');
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (eof || bytes > maxBytes || isLast(chunk)) break;
  }
  session.send('IO.close', { handle }).catch(() => undefined);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes);
}

function pageRangeError({ pageRanges }: PrintSettings, cause: Error): PlatenError {
  const message = `The document has none of the pages ${pageRanges}: pageRanges begin beyond its last page.`;
  return new PlatenError('PAGE_RANGE_INVALID', message, { cause });
}

/** Whether a piece is the last: it is shorter than requested, and ends as a PDF does. Saves one more request. */
function isLast(part: Buffer): boolean {
  return part.byteLength < CHUNK && part.subarray(-END_OF_FILE.byteLength).equals(END_OF_FILE);
}
