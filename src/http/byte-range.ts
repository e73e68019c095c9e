import parseRange from 'range-parser';
import { z } from 'zod';
import { PlatenError } from '../errors/registry.ts';
import type { ByteRange } from '../zip/zip.ts';

/** Request headers of a file that can be fetched in parts. */
export const rangeHeaders = z.object({
  Range: z
    .string()
    .optional()
    .describe('One range of bytes: `bytes=1000-`. Several are answered with the whole file.'),
  'If-Range': z
    .string()
    .optional()
    .describe('The ETag of the file that the range is of; of another one all is sent.'),
});

/** Answer headers of a file that can be fetched in parts. */
export const FILE_HEADERS = {
  'Accept-Ranges': '`bytes`: a download that broke off can be resumed.',
  ETag: 'Names these very bytes.',
} as const;

/**
 * The part of a file that is asked for (RFC 9110, section 14).
 *
 * @param size bytes of the whole file.
 * @returns undefined when all of it is to be sent: no range was given, or none that is understood, or one of another file.
 * @param setHeader puts a header on the answer, also when that becomes an error.
 * @throws PlatenError RANGE_NOT_SATISFIABLE when the file ends before the range begins.
 */
export function requestedRange(
  { Range: range, 'If-Range': ifRange }: z.output<typeof rangeHeaders>,
  { size, etag }: { readonly size: number; readonly etag: string },
  setHeader: (name: string, value: string) => void,
): ByteRange | undefined {
  // A date will not do: what is sent is named by its ETag alone.
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
