import { z } from 'zod';
import { contentDisposition } from '../../infra/outputs/file-name.ts';
import { PDF, PDF_EXTENSION } from '../../infra/outputs/media-type.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import type { BatchZip } from '../../work/batches/batch-files.ts';
import { goneError } from '../../work/batches/batch-service.ts';
import type { ApiDeps } from '../api-deps.ts';
import { optionalQueryInteger, page, paging, queryInteger } from '../request/paging-schema.ts';
import { routesOf } from '../request/route.ts';
import { FILE_HEADERS, rangeHeaders, requestedRange } from './byte-range.ts';
import { downloadUrlSchema } from './download-url-schema.ts';
import { signedManifestLink } from './job-files.ts';
import { requestedBatch, type WorkRequest } from './requested-work.ts';

const defineRoute = routesOf({ tags: ['Batches'], auth: 'apiKey' });
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

const zip = defineRoute('GET /v1/pdf/batch/:id/zip', {
  operationId: 'downloadBatchZip',
  summary: 'Download the completed items of a batch as a zip',
  description:
    'All items that are completed so far, in order, each under a file name of its own. Before the batch has ended, some may be missing. A download that broke off can be resumed with a range request.',
  params,
  headers: rangeHeaders,
  responses: ZIP_RESPONSES,
  errors: ['NOT_FOUND', 'GONE', 'RANGE_NOT_SATISFIABLE', 'TOO_MANY_WAITING'],
}).handledBy(sendZip);

const manifestAddress = defineRoute('GET /v1/pdf/batch/:id/manifest/download-url', {
  operationId: 'getBatchManifestDownloadUrl',
  summary: 'Get a signed address of the manifest of a batch',
  description: 'The manifest has the outcome of each item, and the name of its PDF in the zip.',
  params,
  responses: { 200: { description: 'The address.', schema: downloadUrlSchema } },
  errors: ['NOT_FOUND', 'GONE'],
}).handledBy(async (request, deps: ApiDeps) => {
  const batch = await requestedBatch(request, deps);
  if (deps.batches.accessExpired(batch)) throw goneError(batch);
  return { status: 200, json: { success: true, ...signedManifestLink(batch, deps) } };
});

/** Pages of a part at least and at most, and parts of a batch at most. */
const PAGES = { least: 100, most: 100_000, usual: 1000 };
const MAX_PARTS = 100_000;
const pagesPerPart = queryInteger(PAGES.least, PAGES.most, PAGES.usual).describe(
  'Pages of a part at most, unless one item has more.',
);

const partSchema = z
  .strictObject({
    part: z.int().min(1).describe('Its number.'),
    items: z.int().min(1).describe('PDFs in it.'),
    pages: z.int().min(0).describe('Its pages.'),
    firstItemId: z.string().describe('The item of its first PDF.'),
    lastItemId: z.string().describe('The item of its last PDF.'),
    firstRow: z.int().min(1).describe('The number of the first item in the batch.'),
    lastRow: z.int().min(1).describe('The number of the last item in the batch.'),
    url: z.string().describe('The path of the merged PDF.'),
  })
  .meta({ id: 'BatchPart' });

const parts = defineRoute('GET /v1/pdf/batch/:id/parts', {
  operationId: 'listBatchParts',
  summary: 'List the parts in which a batch is merged',
  description:
    'Once the batch has ended: which of its completed items are in which merged PDF, in the order of the batch. Items without a PDF are in none.',
  params,
  needsPermit: true,
  query: z.strictObject({ pagesPerPart, ...paging }),
  responses: {
    200: {
      description: 'One page of parts.',
      schema: z
        .strictObject({ ...page, parts: z.array(partSchema).describe('In their order.') })
        .meta({ id: 'BatchPartList' }),
    },
  },
  errors: ['NOT_FOUND', 'GONE', 'WRONG_STATE', 'TOO_MANY_WAITING'],
}).handledBy(async (request, deps: ApiDeps) => {
  const { pagesPerPart, limit, offset } = request.query;
  const batch = await requestedBatch(request, deps);
  const shown: z.input<typeof partSchema>[] = [];
  let total = 0;
  for await (const { number, pages, entries } of deps.batchFiles.parts(batch, pagesPerPart)) {
    total += 1;
    if (total <= offset || shown.length >= limit) continue;
    const [first, last] = [entries[0]!, entries.at(-1)!];
    shown.push({
      ...{ part: number, items: entries.length, pages, firstItemId: first.id, lastItemId: last.id },
      ...{ firstRow: first.index! + 1, lastRow: last.index! + 1 },
      url: `/v1/pdf/batch/${batch._id}/pdf?part=${number}&pagesPerPart=${pagesPerPart}`,
    });
  }
  return { status: 200, json: { total, limit, offset, parts: shown } };
});

const MERGED_HEADERS = {
  'Merged-Items': 'PDFs that were merged.',
  'Merged-Pending': 'Items that had not ended.',
} as const;

const merged = defineRoute('GET /v1/pdf/batch/:id/pdf', {
  operationId: 'downloadBatchPdf',
  summary: 'Download the completed items of a batch as one PDF',
  description:
    'All items that are completed so far, in order. Each has a bookmark, with its own bookmarks below. The PDF is tagged if all items are, and has no attachments. It is made while it is sent, so its length is not known beforehand.',
  params,
  query: z.strictObject({
    merge: z.enum(['true']).optional().describe('Accepted, and has no effect: the items are always merged.'),
    part: optionalQueryInteger(1, MAX_PARTS).describe(
      'One part of the batch, as `GET /v1/pdf/batch/{id}/parts` lists them; all items without it.',
    ),
    pagesPerPart,
  }),
  responses: {
    200: { description: 'The PDF.', contentType: PDF, serviceHeaders: MERGED_HEADERS },
  },
  errors: ['NOT_FOUND', 'NOT_MERGEABLE', 'GONE', 'TOO_MANY_WAITING', 'WRONG_STATE'],
}).handledBy(async ({ params, query, caller, aboutJob, onHangUp }, deps: ApiDeps) => {
  aboutJob(params.id);
  return await withDownload(deps.downloads.merged, caller.accountId, async () => {
    const batch = await deps.batches.get(caller, params.id);
    const { part, pagesPerPart } = query;
    const of = part === undefined ? undefined : { part, pagesPerPart };
    const { items, pending, open } = await deps.batchFiles.merged(batch, of);
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
        'Content-Disposition': contentDisposition(
          `${params.id}${part === undefined ? '' : `-${part}`}${PDF_EXTENSION}`,
          'attachment',
        ),
        [`${prefix}Merged-Items`]: items,
        [`${prefix}Merged-Pending`]: pending,
      },
    } as const;
  });
});

export const batchFileRoutes = [zip, manifestAddress, parts, merged];

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
    return zipResponse(params.id, zip, { headers, setHeader }, deps);
  });
}

/** A zip, or its requested range. @param name of the file, without its extension. @throws PlatenError RANGE_NOT_SATISFIABLE */
export function zipResponse(
  name: string,
  zip: BatchZip,
  { headers, setHeader }: Pick<ZipRequest, 'headers' | 'setHeader'>,
  deps: ApiDeps,
) {
  const { size } = zip;
  const range = requestedRange(headers, zip, setHeader);
  const own = zipHeaders(name, zip, deps);
  const stream = zip.open(range);
  if (range === undefined) return { status: 200, body: { size, stream }, headers: own } as const;
  const { start, end } = range;
  return {
    status: 206,
    body: { size: end - start + 1, stream },
    headers: { ...own, 'Content-Range': `bytes ${start}-${end}/${size}` },
  } as const;
}

function zipHeaders(name: string, { items, pending, etag }: BatchZip, { config }: ApiDeps) {
  const prefix = config.PLATEN_HEADER_PREFIX;
  return {
    'Content-Disposition': contentDisposition(`${name}.zip`, 'attachment'),
    'Accept-Ranges': 'bytes',
    ETag: etag,
    [`${prefix}Zip-Items`]: items,
    [`${prefix}Zip-Pending`]: pending,
  };
}
