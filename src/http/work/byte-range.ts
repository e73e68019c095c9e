import parseRange from 'range-parser';
import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { ByteRange } from '../../work/batches/zip.ts';

/** Request headers of a file that can be fetched in parts. */
export const rangeHeaders = z.object({
  Range: z
    .string()
    .optional()
    .describe('One range of bytes: `bytes=1000-`. The response to several is the whole file.'),
  'If-Range': z
    .string()
    .optional()
    .describe(
      'The ETag of the file that the range belongs to. If the file is another one, the whole file is sent.',
    ),
});

/** Response headers of a file that can be fetched in parts. */
export const FILE_HEADERS = {
  'Accept-Ranges': '`bytes`: a download that broke off can be resumed with a range request.',
  ETag: 'Identifies exactly these bytes.',
} as const;

/**
 * The requested part of a file (RFC 9110, section 14).
 *
 * @param size bytes of the whole file.
 * @param setHeader sets a header of the response, also when it becomes an error.
 * @returns undefined when the whole file is to be sent: without a range, with an unsupported one, or with one of
 * another file.
 * @throws PlatenError RANGE_NOT_SATISFIABLE when the file ends before the range begins.
 */
export function requestedRange(
  { Range: range, 'If-Range': ifRange }: z.output<typeof rangeHeaders>,
  { size, etag }: { readonly size: number; readonly etag: string },
  setHeader: (name: string, value: string) => void,
): ByteRange | undefined {
  // If-Range with a date never matches: files are identified by their ETag only.
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return undefined;
  const ranges = parseRange(size, range);
  if (ranges === -1) {
    setHeader('Content-Range', `bytes */${size}`);
    throw new PlatenError(
      'RANGE_NOT_SATISFIABLE',
      `The file has ${size} bytes; there are none at ${range.slice(0, 64)}.`,
    );
  }
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}
