import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { PDFDocument, PDFName } from '@cantoo/pdf-lib';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { createGridFsOutputStore } from '../../../src/infra/outputs/gridfs.ts';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { type FilesProcess, startFilesProcess } from '../../support/batch-files.ts';
import { startMongo } from '../../support/mongo.ts';

const MIB = 1024 * 1024;
const ITEMS = 240;
const ITEM_BYTES = 500_000;
const MOST_MORE = 64 * MIB;

/** One page with a stream of so many bytes that no compression makes smaller. */
async function largeDocument(): Promise<Buffer> {
  const document = await PDFDocument.create();
  const { context } = document;
  const { node } = document.addPage([200, 200]);
  node.set(PDFName.of('PieceInfo'), context.register(context.stream(randomBytes(ITEM_BYTES))));
  return Buffer.from(await document.save());
}

describe('the memory that a merged PDF of 120 MB takes, out of GridFS', () => {
  let connection: Connection;
  let files: FilesProcess;

  before(async () => {
    const { uri } = await startMongo();
    connection = await connectDatabase(uri, pino({ level: 'silent' }));
    const key = outputKey('job', 1, new Date(Date.now() + 86_400_000));
    const pdf = await largeDocument();
    await createGridFsOutputStore(connection).put(key, pdf);
    files = await startFilesProcess(uri, ITEMS, pdf.length, [key]);
  });
  after(async () => {
    await files.end();
    await connection.close();
  });

  it('is less than 64 MiB more than that of the first twelfth, here and in the process that merges', async () => {
    const read = async (items: number) => {
      assert.ok((await files.read('merged', 50, items)) > items * ITEM_BYTES);
      return files.memory();
    };
    // What a new process takes for its first documents, however many there are.
    const first = await read(ITEMS / 12);
    const whole = await read(ITEMS);
    const here = whole.peak - first.peak;
    const there = whole.mergerPeak - first.mergerPeak;
    const reported = `${inMib(first.peak)} and ${inMib(first.mergerPeak)} MiB, then ${inMib(here)} and ${inMib(there)} MiB more`;
    console.log(`      ${reported}`);
    assert.ok(first.mergerPeak > 0);
    assert.ok(here < MOST_MORE, reported);
    assert.ok(there < MOST_MORE, reported);
  });
});

function inMib(bytes: number): number {
  return Math.round(bytes / MIB);
}
