import assert from 'node:assert/strict';
import {
  type Condition,
  findCondition,
  setCondition,
} from '../../../../../src/infra/kube/client/conditions.ts';

const FIRST = new Date('2030-01-01T10:00:00.123Z');
const LATER = new Date('2030-01-01T11:00:00Z');
const READY = { type: 'Ready', status: 'True', reason: 'AllWell', message: 'all is well' } as const;

describe('a condition', () => {
  const other: Condition = { ...READY, type: 'Other', lastTransitionTime: '2029-01-01T00:00:00Z' };
  const set = setCondition([other], READY, FIRST);

  it('is added to those of other types, with the second of its transition', () => {
    assert.deepEqual(set, [other, { ...READY, lastTransitionTime: '2030-01-01T10:00:00Z' }]);
  });

  it('returns the same list when nothing differs', () => {
    assert.equal(setCondition(set, READY, LATER), set);
  });

  it('keeps the time of its last transition while its status stays', () => {
    const changed = setCondition(
      set,
      { ...READY, reason: 'NotBad', message: 'well enough', observedGeneration: 2 },
      LATER,
    );
    assert.deepEqual(findCondition(changed, 'Ready'), {
      ...READY,
      reason: 'NotBad',
      message: 'well enough',
      observedGeneration: 2,
      lastTransitionTime: '2030-01-01T10:00:00Z',
    });
    assert.equal(changed.length, 2);
  });

  it('changes the time with its status', () => {
    const changed = setCondition(set, { ...READY, status: 'Unknown' }, LATER);
    assert.equal(findCondition(changed, 'Ready')?.lastTransitionTime, '2030-01-01T11:00:00Z');
    assert.equal(findCondition(set, 'Ready')?.status, 'True');
  });
});
