import { z } from 'zod';
import { contentDisposition } from '../../infra/outputs/file-name.ts';
import { PDF, PDF_EXTENSION } from '../../infra/outputs/media-type.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import type { BatchZip } from '../../work/batches/batch-files.ts';
import { goneError } from '../../work/batches/batch-service.ts';
import type { ApiDeps } from '../api-deps.ts';
import { defineRoute } from '../request/route.ts';
import { FILE_HEADERS, rangeHeaders, requestedRange } from './byte-range.ts';
import { downloadUrlSchema } from './download-url-schema.ts';
import { signedManifestLink } from './job-files.ts';
import { requestedBatch, type WorkRequest } from './requested-work.ts';

const tags = ['Batches'];
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const ZIP_HEADERS = {
  'Zip-Items': 'PDFs in the zip.',
  'Zip-Pending': 'Items that had not ended. If there are any, a later zip may contain more PDFs.',
} as const;

export const ZIP_RESPONSES = {
  200: {
    description: 'The zip.',
    contentType: 'application/zip',
    headers: FILE_HEADERS,
    serviceHeaders: ZIP_HEADERS,
  },
  206: {
    description: 'The requested range of the zip.',
    contentType: 'application/zip',
    headers: { ...FILE_HEADERS, 'Content-Range': 'The range, and the size of the file.' },
    serviceHeaders: ZIP_HEADERS,
  },
} as const;

const zip = defineRoute({
  method: 'get',
  path: '/v1/pdf/batch/:id/zip',
  operationId: 'downloadBatchZip',
  summary: 'Download the completed items of a batch as a zip',
  description:
    'All items that are completed so far, in order, each under a file name of its own. Before the batch has ended, some may be missing. A download that broke off can be resumed with a range request.',
  tags,
  auth: 'apiKey',
  params,
  headers: rangeHeaders,
  responses: ZIP_RESPONSES,
  errors: ['NOT_FOUND', 'GONE', 'RANGE_NOT_SATISFIABLE', 'TOO_MANY_WAITING'],
}).handledBy(sendZip);

const manifestAddress = defineRoute({
  method: 'get',
  path: '/v1/pdf/batch/:id/manifest/download-url',
  operationId: 'getBatchManifestDownloadUrl',
  summary: 'Get a signed address of the manifest of a batch',
  description: 'The manifest has the outcome of each item, and the name of its PDF in the zip.',
  tags,
  auth: 'apiKey',
  params,
  responses: { 200: { description: 'The address.', schema: downloadUrlSchema } },
  errors: ['NOT_FOUND', 'GONE'],
}).handledBy(async (request, deps: ApiDeps) => {
  const batch = await requestedBatch(request, deps);
  if (deps.batches.accessExpired(batch)) throw goneError(batch);
  return { status: 200, json: { success: true, ...signedManifestLink(batch, deps) } };
});

const MERGED_HEADERS = {
  'Merged-Items': 'PDFs that were merged.',
  'Merged-Pending': 'Items that had not ended.',
} as const;

const merged = defineRoute({
  method: 'get',
  path: '/v1/pdf/batch/:id/pdf',
  operationId: 'downloadBatchPdf',
  summary: 'Download the completed items of a batch as one PDF',
  description:
    'All items that are completed so far, in order. Each has a bookmark, with its own bookmarks below. The PDF is tagged if all items are, and has no attachments. It is made while it is sent, so its length is not known beforehand.',
  tags,
  auth: 'apiKey',
  params,
  query: z.strictObject({
    merge: z.enum(['true']).optional().describe('Accepted, and has no effect: the items are always merged.'),
  }),
  responses: {
    200: { description: 'The PDF.', contentType: PDF, serviceHeaders: MERGED_HEADERS },
  },
  errors: ['NOT_FOUND', 'NOT_MERGEABLE', 'GONE', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, caller, aboutJob, onHangUp }, deps: ApiDeps) => {
  aboutJob(params.id);
  return await withDownload(deps.downloads.merged, caller.accountId, async () => {
    const batch = await deps.batches.get(caller, params.id);
    const { items, pending, open } = await deps.batchFiles.merged(batch);
    const cancel = new AbortController();
    onHangUp(() => cancel.abort());
    const stream = open(cancel.signal);
    // The stream is also closed when its reservation is evicted.
    stream.once('close', () => cancel.abort());
    const prefix = deps.config.PLATEN_HEADER_PREFIX;
    return {
      status: 200,
      body: { stream },
      headers: {
        'Content-Disposition': contentDisposition(`${params.id}${PDF_EXTENSION}`, 'attachment'),
        [`${prefix}Merged-Items`]: items,
        [`${prefix}Merged-Pending`]: pending,
      },
    } as const;
  });
});

export const batchFileRoutes = [zip, manifestAddress, merged];

/** A request for the zip of a batch, or for a range of it. */
interface ZipRequest extends WorkRequest {
  readonly headers: z.output<typeof rangeHeaders>;
  readonly setHeader: (name: string, value: string) => void;
}

/** The zip of a batch, or its requested range. @throws PlatenError as the routes of zips declare. */
export function sendZip({ params, headers, caller, aboutJob, setHeader }: ZipRequest, deps: ApiDeps) {
  aboutJob(params.id);
  return withDownload(deps.downloads.zips, caller.accountId, async () => {
    const zip = await deps.batchFiles.zip(await deps.batches.get(caller, params.id));
    const { size } = zip;
    const range = requestedRange(headers, zip, setHeader);
    const own = zipHeaders(params.id, zip, deps);
    const stream = zip.open(range);
    if (range === undefined) return { status: 200, body: { size, stream }, headers: own } as const;
    const { start, end } = range;
    return {
      status: 206,
      body: { size: end - start + 1, stream },
      headers: { ...own, 'Content-Range': `bytes ${start}-${end}/${size}` },
    } as const;
  });
}

function zipHeaders(batchId: string, { items, pending, etag }: BatchZip, { config }: ApiDeps) {
  const prefix = config.PLATEN_HEADER_PREFIX;
  return {
    'Content-Disposition': contentDisposition(`${batchId}.zip`, 'attachment'),
    'Accept-Ranges': 'bytes',
    ETag: etag,
    [`${prefix}Zip-Items`]: items,
    [`${prefix}Zip-Pending`]: pending,
  };
}
