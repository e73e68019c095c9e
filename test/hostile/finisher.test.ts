import assert from 'node:assert/strict';
import { createPdfFinisher, type PdfFinisher } from '../../src/pdf/finish.ts';
import { documentWithObjects } from '../support/pdf.ts';

/** As a worker of sixteen slots has. */
const PROCESSES = 3;
const ATTACKERS = 10;
const EACH = 3;
/** Reading and writing so many takes several seconds. */
const OBJECTS = 200_000;
const RENDERS = 5;
const METADATA = { title: 'Invoice' };

describe('a neighbour of accounts whose PDFs take seconds to be finished', function () {
  this.timeout(200_000);
  let finisher: PdfFinisher;
  before(() => {
    finisher = createPdfFinisher({ processes: PROCESSES });
  });
  after(() => finisher.close());

  it('has its own finished before nearly all of those that came first, of ten accounts', async () => {
    const mine = documentWithObjects(10);
    const finish = () => finisher.finish(mine, { metadata: METADATA, account: 'neighbour' });
    await finish();
    const over = new AbortController();
    const slow = documentWithObjects(OBJECTS);
    let ended = 0;
    const attacks = Array.from({ length: ATTACKERS * EACH }, async (_, i) => {
      const account = `attacker${i % ATTACKERS}`;
      try {
        await finisher.finish(slow, { metadata: METADATA, account, signal: over.signal });
      } catch (error) {
        if (!over.signal.aborted) throw error;
      }
      ended += 1;
    });
    for (let i = 0; i < RENDERS; i++) {
      const finished = await finish();
      assert.ok(finished.length > 0);
    }
    assert.ok(ended < ATTACKERS, `${ended} of the ${attacks.length} that came first have been finished`);
    over.abort();
    await Promise.all(attacks);
  });
});
