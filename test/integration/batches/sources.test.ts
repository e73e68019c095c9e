import assert from 'node:assert/strict';
import { batchRecord } from '../../../src/work/batches/batch-record.ts';
import { useDomain } from '../../support/domain.ts';
import { csvOf, Sourced } from './sourced.ts';

const ROWS = 450;

describe('A batch of the rows of a file', () => {
  const domain = useDomain({ plan: { concurrentRenders: 6, maxBatchItems: 1000, monthlyRenders: 100_000 } });
  let sourced: Sourced;
  beforeEach(() => {
    sourced = new Sourced(domain);
  });
  afterEach(() => sourced.close());

  const shown = async (id: string) => {
    const batch = await sourced.batch(id);
    return batchRecord({ batch, inFlight: 0 }, false, domain.clock.now());
  };

  it('renders each row once, charges each once, and keeps nothing of the file', async () => {
    const { _id } = await sourced.upload(csvOf(ROWS));
    const batch = await sourced.finish(_id);
    assert.deepEqual([batch.phase, batch.total, await sourced.charged()], ['completed', ROWS, ROWS]);
    assert.equal(new Set(sourced.rendered).size, ROWS);
    assert.equal(sourced.rendered.length, ROWS);
    const items = await sourced.items(batch);
    assert.deepEqual(
      items.map(({ item }) => item.id),
      Array.from({ length: ROWS }, (_, i) => `inv-${i + 1}`),
    );
    assert.ok(items.every(({ status }) => status === 'completed'));
    const input = await domain.store.inputs.load(items[7]!.job!._id);
    assert.equal(input, undefined, 'the input of a completed item is deleted');
    await sourced.assertNothingKept();
    const { source, progress } = await shown(_id);
    assert.deepEqual([source?.state, source?.rows, source?.rowsRead], ['read', ROWS, ROWS]);
    assert.deepEqual([progress.completed, progress.percentComplete], [ROWS, 100]);
  });

  it('has no more rows waiting than there is work for', async () => {
    const { _id } = await sourced.upload(csvOf(ROWS));
    // Twenty for each slot, in steps of fifty.
    await sourced.readUntil(_id, 'rows are items', ({ source }) => source!.read >= 100);
    await sourced.idle();
    const { source, total } = await sourced.batch(_id);
    assert.deepEqual([total, source!.read, await sourced.charged()], [ROWS, 100, 100]);
    await sourced.finish(_id);
  });

  it('renders the rows of a proof, and the others once it is released', async () => {
    const { _id } = await sourced.upload(csvOf(60), { proof: 10 });
    const { caller } = sourced;
    await sourced.readUntil(_id, 'the proof is there', ({ source }) => source!.read === 10);
    while ((await sourced.render()) > 0) await domain.followUp.flush();
    await sourced.idle();
    assert.deepEqual([sourced.rendered.length, await sourced.charged()], [10, 10]);
    const { source, progress, estimatedCompletionTime } = await shown(_id);
    assert.deepEqual([source?.state, source?.rows, progress.completed], ['awaiting_release', 60, 10]);
    assert.equal(estimatedCompletionTime, null);
    await domain.batches.service.direct(caller, _id, 'release');
    assert.equal((await sourced.finish(_id)).phase, 'completed');
    assert.deepEqual([sourced.rendered.length, await sourced.charged()], [60, 60]);
    await assert.rejects(domain.batches.service.direct(caller, _id, 'release'), { code: 'WRONG_STATE' });
  });

  it('waits while it is paused, and goes on where it was', async () => {
    const { _id } = await sourced.upload(csvOf(ROWS));
    const { service } = domain.batches;
    await sourced.readUntil(_id, 'rows are items', ({ source }) => source!.read > 0);
    await service.direct(sourced.caller, _id, 'pause');
    await assert.rejects(service.direct(sourced.caller, _id, 'pause'), { code: 'WRONG_STATE' });
    await sourced.idle();
    while ((await sourced.render()) > 0) await domain.followUp.flush();
    await sourced.idle();
    const paused = await shown(_id);
    assert.deepEqual([paused.source?.state, paused.source?.rowsRead], ['paused', sourced.rendered.length]);
    assert.ok(sourced.rendered.length < ROWS);
    await service.direct(sourced.caller, _id, 'goOn');
    assert.equal((await sourced.finish(_id)).phase, 'completed');
    assert.deepEqual([new Set(sourced.rendered).size, await sourced.charged()], [ROWS, ROWS]);
  });

  for (const state of ['before it is counted', 'while it is read', 'after its proof', 'while it is paused']) {
    it(`is cancelled ${state}: what was not read is no item, and charges nothing`, async () => {
      const { service } = domain.batches;
      const { _id } = await sourced.upload(csvOf(ROWS), state === 'after its proof' ? { proof: 10 } : {});
      if (state !== 'before it is counted')
        await sourced.readUntil(_id, 'rows are items', ({ source }) => source!.read > 0);
      if (state === 'while it is paused') {
        await service.direct(sourced.caller, _id, 'pause');
        await sourced.idle();
      }
      await sourced.render();
      await domain.followUp.flush();
      await service.cancel(sourced.caller, _id);
      const batch = await sourced.finish(_id);
      assert.equal(batch.phase, 'cancelled');
      assert.equal(batch.total, batch.source!.read);
      const items = await sourced.items(batch);
      assert.equal(items.length, batch.total);
      assert.ok(batch.total < ROWS);
      assert.equal(await sourced.charged(), sourced.rendered.length);
      assert.equal((await shown(_id)).source?.state, 'cut');
      await sourced.assertNothingKept();
    });
  }

  it('ends at its deadline with what was rendered', async () => {
    const { _id } = await sourced.upload(csvOf(60), { proof: 10, retentionHours: 1 });
    await sourced.readUntil(_id, 'the proof is there', ({ source }) => source!.read === 10);
    while ((await sourced.render()) > 0) await domain.followUp.flush();
    await sourced.idle();
    domain.clock.pass(3_600_001);
    const batch = await sourced.finish(_id);
    assert.deepEqual([batch.phase, batch.total, batch.source?.error?.code], ['cancelled', 10, 'EXPIRED']);
    domain.clock.offset = 0;
  });

  it('has a failed item for each row that is wrong, with the row and the reason', async () => {
    const file = [
      'id;customer.name;note',
      'a;Ada;"two\nlines"',
      'b;Grace',
      'c;5" pipe;x',
      ';Nobody;x',
      'a;Again;x',
      '..;Dots;x',
      'g;Good;"a ""quoted"" word"',
    ].join('\r\n');
    const { _id } = await sourced.upload(`\uFEFF${file}`, {}, { idColumn: 'id' });
    const batch = await sourced.finish(_id);
    assert.deepEqual([batch.phase, batch.total], ['completed', 7]);
    const items = await sourced.items(batch);
    assert.deepEqual(
      items.map(({ item, status, error }) => [item.id, status, error?.code, error?.message]),
      [
        ['a', 'completed', undefined, undefined],
        ['row-2', 'failed', 'VALIDATION', 'Row 2: its number of fields is 2, that of the first row 3.'],
        ['row-3', 'failed', 'VALIDATION', 'Row 3: is no CSV: Invalid Opening Quote.'],
        ['row-4', 'failed', 'VALIDATION', 'Row 4: has nothing in "id".'],
        ['row-5', 'failed', 'VALIDATION', 'Row 5: has the id "a", as row 1 has.'],
        [
          'row-6',
          'failed',
          'VALIDATION',
          'Row 6: what it has in "id" cannot be an id: must not be "." or "..".',
        ],
        ['g', 'completed', undefined, undefined],
      ],
    );
    assert.deepEqual([await sourced.charged(), (await shown(_id)).progress.failed], [2, 5]);
  });

  for (const [what, file, message] of [
    ['has no rows', 'id,name\n\n', /no rows/],
    ['is empty', '', /empty/],
    ['names a column twice', 'id,id\n1,2\n', /Two columns have the name "id"/],
    ['lacks the column of the ids', 'name\nAda\n', /no column "id"/],
    ['has more rows than the plan allows', csvOf(1001), /more than 1000 rows/],
    [
      'is of another encoding',
      Buffer.from('\uFEFFid,name\n1,2\n', 'utf16le').toString('latin1'),
      /no column/,
    ],
  ] as const) {
    it(`fails when its file ${what}, and says so`, async () => {
      const { _id } = await sourced.upload(file, {}, { idColumn: 'id' });
      const batch = await sourced.finish(_id);
      assert.deepEqual([batch.phase, batch.total, await sourced.charged()], ['failed', 0, 0]);
      assert.equal(batch.source?.error?.code, 'SOURCE_UNREADABLE');
      assert.match(batch.source!.error!.message, message);
    });
  }

  it('reads NDJSON, with all digits of its numbers', async () => {
    const lines = ['{"id": 9007199254740993, "n": 1}', '[1]', '{"id": "b"', '', '{"name": "none"}'];
    const { _id } = await sourced.upload(lines.join('\n'), {}, { format: 'ndjson' });
    const batch = await sourced.finish(_id);
    const items = await sourced.items(batch);
    assert.deepEqual(
      items.map(({ item, status }) => [item.id, status]),
      [
        ['9007199254740993', 'completed'],
        ['row-2', 'failed'],
        ['row-3', 'failed'],
        ['row-4', 'completed'],
      ],
    );
  });
});

describe('A batch of the rows of a file, of an account with little quota', () => {
  const domain = useDomain({ plan: { concurrentRenders: 6, maxBatchItems: 1000, monthlyRenders: 37 } });

  it('uses the quota to its end, never more, and goes on when there is more', async () => {
    const sourced = new Sourced(domain);
    const { _id } = await sourced.upload(csvOf(60));
    await sourced.readUntil(_id, 'the quota is used up', ({ source }) => source!.waitsFor !== undefined);
    while ((await sourced.render()) > 0) await domain.followUp.flush();
    const { source, total } = await sourced.batch(_id);
    assert.deepEqual([source!.waitsFor?.code, source!.read, total], ['QUOTA_EXCEEDED', 37, 60]);
    assert.deepEqual([await sourced.charged(), sourced.rendered.length], [37, 37]);
    Object.assign(domain.plan, { monthlyRenders: 1000 });
    domain.clock.pass(60_000);
    assert.equal((await sourced.finish(_id)).phase, 'completed');
    assert.deepEqual([await sourced.charged(), sourced.rendered.length], [60, 60]);
    await sourced.close();
  });
});
