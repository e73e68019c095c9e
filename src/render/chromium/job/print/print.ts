import { PlatenError } from '../../../../infra/errors/registry.ts';
import type { PrintSettings } from '../../../options/core/option.ts';
import type { RenderPage } from '../../page/render-page.ts';

/** Bytes requested at a time. */
const CHUNK = 4 * 1024 * 1024;
/** The end of a PDF (ISO 32000-1, 7.5.5), as Skia writes it. */
const END_OF_FILE = Buffer.from('%%EOF\n');

/**
 * Prints the page. The PDF is read in pieces, so that an endless one is noticed before it is held in memory.
 *
 * @throws PlatenError OUTPUT_TOO_LARGE above `maxBytes`, PAGE_RANGE_INVALID for pages that the document does not have.
 */
export async function printPage(
  page: Pick<RenderPage, 'session'>,
  settings: PrintSettings,
  maxBytes: number,
): Promise<Buffer> {
  const { session } = page;
  const printing = session.send('Page.printToPDF', { ...settings, transferMode: 'ReturnAsStream' });
  const { stream } = await printing.catch((error: Error) => {
    throw settings.pageRanges && /page range/i.test(error.message) ? pageRangeError(settings, error) : error;
  });
  const handle = stream!;
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
  if (bytes > maxBytes) {
    throw new PlatenError('OUTPUT_TOO_LARGE', `The PDF is larger than ${maxBytes} bytes.`);
  }
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
