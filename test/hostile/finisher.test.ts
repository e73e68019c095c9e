import assert from 'node:assert/strict';
import { createPdfFinisher, type PdfFinisher } from '../../src/render/pdf/finish.ts';
import { documentWithObjects } from '../support/pdf.ts';

/** Processes of the finisher of a worker with 16 slots. */
const PROCESSES = 3;
const ATTACKERS = 10;
const EACH = 3;
/** Reading and writing this many objects takes several seconds. */
const OBJECTS = 200_000;
const RENDERS = 5;
const METADATA = { title: 'Invoice' };

describe('A render during renders whose PDFs take seconds to finish', () => {
  let finisher: PdfFinisher;
  before(() => {
    finisher = createPdfFinisher({ processes: PROCESSES });
  });
  after(() => finisher.close());

  it('is finished before nearly all earlier renders of ten accounts', async () => {
    const mine = documentWithObjects(10);
    const finish = () =>
      finisher.finish(mine, { steps: [{ step: 'metadata', argument: METADATA }], account: 'neighbour' });
    await finish();
    const over = new AbortController();
    const slow = documentWithObjects(OBJECTS);
    let ended = 0;
    const attacks = Array.from({ length: ATTACKERS * EACH }, async (_, i) => {
      const account = `attacker${i % ATTACKERS}`;
      try {
        await finisher.finish(slow, {
          steps: [{ step: 'metadata', argument: METADATA }],
          account,
          signal: over.signal,
        });
      } catch (error) {
        if (!over.signal.aborted) throw error;
      }
      ended += 1;
    });
    for (let i = 0; i < RENDERS; i++) {
      const { pdf: finished } = await finish();
      assert.ok(finished.length > 0);
    }
    assert.ok(ended < ATTACKERS, `${ended} of the ${attacks.length} that came first have been finished`);
    over.abort();
    await Promise.all(attacks);
  });
});
