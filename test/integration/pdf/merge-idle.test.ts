import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PDFDocument } from '@cantoo/pdf-lib';
import { createPdfMerger } from '../../../src/render/pdf/merge.ts';
import { eventually } from '../../support/eventually.ts';
import { descendants } from '../../support/processes.ts';

const IDLE_MS = 400;

/** Processes of this one that merge. */
const mergers = () => descendants(process.pid).filter(({ command }) => command.includes('merge-main'));

describe('the processes that merge', () => {
  it('end when nobody has merged for a while, and are started again when somebody does', async () => {
    const document = await PDFDocument.create();
    document.addPage([100, 100]);
    const pdf = Buffer.from(await document.save());
    const sources = Array.from({ length: 3 }, (_, i) => ({
      ...{ title: `${i}`, bytes: pdf.length },
      read: async () => pdf,
    }));
    const merger = createPdfMerger({ memoryBytes: 4096 * 1024 ** 2, idleMs: IDLE_MS });
    const merge = () => merger.merge(sources, { account: 'a', signal: new AbortController().signal });
    try {
      await eventually('those of others have ended', () => mergers().length === 0);
      for (let i = 0; i < 2; i += 1) {
        const stalled = merge();
        const [whole, another] = await Promise.all([buffer(merge()), buffer(merge())]);
        for (const bytes of [whole, another])
          assert.equal((await PDFDocument.load(bytes)).getPageCount(), sources.length);
        const kept = mergers();
        assert.ok(kept.length > 0);
        await sleep(3 * IDLE_MS);
        assert.deepEqual(mergers(), kept, 'not while a merge is under way');
        assert.ok((await buffer(stalled)).length > 0);
        await eventually('none is left', () => mergers().length === 0);
      }
    } finally {
      await merger.close();
    }
  });
});
