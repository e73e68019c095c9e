import { z } from 'zod';
import type { BatchZip } from '../../batches/batch-files.ts';
import { goneError } from '../../batches/batch-service.ts';
import { contentDisposition } from '../../pdf/file-name.ts';
import type { ApiParts } from '../api-parts.ts';
import { FILE_HEADERS, rangeHeaders, requestedRange } from '../byte-range.ts';
import { withPlace } from '../downloads.ts';
import { signedManifestLink } from '../job-files.ts';
import { defineRoute } from '../route.ts';
import { downloadUrlSchema } from '../schemas/download-url.ts';

const tags = ['Batches'];
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const ZIP_HEADERS = {
  'Zip-Items': 'PDFs in the zip.',
  'Zip-Pending': 'Items that had not ended: while there are any, a later zip may hold more.',
} as const;

const zip = defineRoute({
  method: 'get',
  path: '/v1/pdf/batch/:id/zip',
  summary: 'Download the completed items of a batch as a zip',
  description:
    'All items that are completed by now, in their order, under file names of their own. Before the end of the batch that may be a part of them. A download that broke off can be resumed by a range.',
  tags,
  auth: 'apiKey',
  params,
  headers: rangeHeaders,
  responses: {
    200: {
      description: 'The zip.',
      contentType: 'application/zip',
      headers: FILE_HEADERS,
      serviceHeaders: ZIP_HEADERS,
    },
    206: {
      description: 'The part of it that was asked for.',
      contentType: 'application/zip',
      headers: { ...FILE_HEADERS, 'Content-Range': 'Which bytes of how many.' },
      serviceHeaders: ZIP_HEADERS,
    },
  },
  errors: ['NOT_FOUND', 'GONE', 'RANGE_NOT_SATISFIABLE', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, headers, caller, aboutJob, setHeader }, parts: ApiParts) => {
  aboutJob(params.id);
  return await withPlace(parts.downloads.zips, caller.accountId, async () => {
    const zip = await parts.batchFiles.zip(await parts.batches.get(caller, params.id));
    const { size } = zip;
    const range = requestedRange(headers, zip, setHeader);
    const own = zipHeaders(params.id, zip, parts);
    const stream = zip.open(range);
    if (range === undefined) return { status: 200, body: { size, stream }, headers: own } as const;
    const { start, end } = range;
    return {
      status: 206,
      body: { size: end - start + 1, stream },
      headers: { ...own, 'Content-Range': `bytes ${start}-${end}/${size}` },
    } as const;
  });
});

const manifestAddress = defineRoute({
  method: 'get',
  path: '/v1/pdf/batch/:id/manifest/download-url',
  summary: 'Get a signed address of the manifest of a batch',
  description: 'The manifest says what became of each item, and under which name its PDF is in the zip.',
  tags,
  auth: 'apiKey',
  params,
  responses: { 200: { description: 'The address.', schema: downloadUrlSchema } },
  errors: ['NOT_FOUND', 'GONE'],
}).handledBy(async ({ params, caller, aboutJob }, parts: ApiParts) => {
  aboutJob(params.id);
  const batch = await parts.batches.get(caller, params.id);
  if (parts.batches.accessExpired(batch)) throw goneError(batch);
  return { status: 200, json: { success: true, ...signedManifestLink(batch, parts) } };
});

const MERGED_HEADERS = {
  'Merged-Items': 'PDFs that were merged.',
  'Merged-Pending': 'Items that had not ended.',
} as const;

const merged = defineRoute({
  method: 'get',
  path: '/v1/pdf/batch/:id/pdf',
  summary: 'Download the completed items of a batch as one PDF',
  description:
    'All items that are completed by now, in their order, with a bookmark for each. It is made while it is sent, so its length is not known beforehand.',
  tags,
  auth: 'apiKey',
  params,
  query: z.strictObject({ merge: z.enum(['true']).optional().describe('What this does anyway.') }),
  responses: {
    200: { description: 'The PDF.', contentType: 'application/pdf', serviceHeaders: MERGED_HEADERS },
  },
  errors: ['NOT_FOUND', 'GONE', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, caller, aboutJob, onHangUp }, parts: ApiParts) => {
  aboutJob(params.id);
  return await withPlace(parts.downloads.merged, caller.accountId, async () => {
    const batch = await parts.batches.get(caller, params.id);
    const { items, pending, open } = await parts.batchFiles.merged(batch);
    const unwanted = new AbortController();
    onHangUp(() => unwanted.abort());
    const stream = open(unwanted.signal);
    // Also where it has to make way for others.
    stream.once('close', () => unwanted.abort());
    const prefix = parts.config.PLATEN_HEADER_PREFIX;
    return {
      status: 200,
      body: { stream },
      headers: {
        'Content-Disposition': contentDisposition(`${params.id}.pdf`, 'attachment'),
        [`${prefix}Merged-Items`]: items,
        [`${prefix}Merged-Pending`]: pending,
      },
    } as const;
  });
});

export const batchFileRoutes = [zip, manifestAddress, merged];

function zipHeaders(batchId: string, { items, pending, etag }: BatchZip, { config }: ApiParts) {
  const prefix = config.PLATEN_HEADER_PREFIX;
  return {
    'Content-Disposition': contentDisposition(`${batchId}.zip`, 'attachment'),
    'Accept-Ranges': 'bytes',
    ETag: etag,
    [`${prefix}Zip-Items`]: items,
    [`${prefix}Zip-Pending`]: pending,
  };
}
