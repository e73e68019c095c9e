import assert from 'node:assert/strict';
import { isItemOf, itemJobId } from '../../../src/work/batches/batch.ts';
import { newJobId } from '../../../src/work/jobs/new-job.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('ids of the jobs of a batch', () => {
  const batch = { _id: newJobId() };

  it('are UUIDs in the order of the items, after those of batches before', () => {
    const earlier = { ...batch, _id: '019a0000-0000-7000-8000-00000000ffff' };
    const ids = [earlier, batch].flatMap((of) =>
      Array.from({ length: 10_000 }, (_, i) => itemJobId(of, i, `item-${9999 - i}`)),
    );
    for (const id of ids) assert.match(id, UUID);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(ids, [...ids].sort());
  });

  it('are the same whenever they are made, and others for other items', () => {
    assert.equal(itemJobId(batch, 7, 'a'), itemJobId({ ...batch }, 7, 'a'));
    assert.notEqual(itemJobId(batch, 7, 'a'), itemJobId(batch, 7, 'b'));
  });

  it('show which batch they are of, also among batches of the same moment', () => {
    const id = itemJobId(batch, 3, 'item-3');
    assert.ok(isItemOf(batch, id));
    // What ids of the same millisecond may share.
    const twin = { ...batch, _id: `${batch._id.slice(0, 24)}${flipped(batch._id.slice(24))}` };
    assert.ok(!isItemOf(twin, id));
    assert.ok(!isItemOf(batch, newJobId()));
  });
});

function flipped(hex: string): string {
  return [...hex].map((digit) => (15 - Number.parseInt(digit, 16)).toString(16)).join('');
}
