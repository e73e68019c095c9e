import { Readable } from 'node:stream';
import { pdfSize } from '../jobs/job.ts';
import type { Batch } from './batch.ts';
import type { NamedItem } from './batch-files.ts';

/** The manifest as JSON, generated as it is read: one chunk of items is in memory, however large the batch. */
export function manifestStream(batch: Batch, items: AsyncIterable<NamedItem>): Readable {
  return Readable.from(manifestText(batch, items), { objectMode: false });
}

async function* manifestText(batch: Batch, items: AsyncIterable<NamedItem>): AsyncGenerator<string> {
  const head = { jobId: batch._id, createdAt: batch.createdAt.toISOString() };
  yield `${JSON.stringify(head).slice(0, -1)},"items":[`;
  let isFirst = true;
  for await (const item of items) {
    yield `${isFirst ? '\n' : ',\n'}${JSON.stringify(manifestItem(item))}`;
    isFirst = false;
  }
  yield '\n]}\n';
}

function manifestItem({ item, name, status, job, error }: NamedItem) {
  const output = job?.output ?? null;
  return {
    itemId: item.id,
    fileName: name,
    status,
    size: job === undefined ? 0 : pdfSize(job),
    pages: output?.pages ?? 0,
    sha256: output?.sha256 ?? null,
    error: error && { code: error.code, message: error.message },
  };
}
