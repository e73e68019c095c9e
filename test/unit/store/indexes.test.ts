import assert from 'node:assert/strict';
import {
  type CollectionSpec,
  declaredCollections,
  indexesOn,
} from '../../../src/infra/store/collection-spec.ts';
import { openDomain } from '../../support/domain.ts';

const SPEC: CollectionSpec = {
  name: 'things',
  account: 'accountId',
  indexes: [
    { fields: { _id: 1, version: 1 }, unique: 'embedded' },
    { fields: { accountId: 1, at: 1, _id: 1 }, unique: 'embedded' },
    { fields: { serial: 1 }, unique: true, sparse: true },
    { fields: { at: 1 } },
  ],
};

describe('The indexes of a collection', () => {
  it('are unique on MongoDB only where they forbid something, and none repeats that on _id', () => {
    assert.deepEqual(indexesOn(SPEC, false), [
      { key: { accountId: 1, at: 1, _id: 1 } },
      { key: { serial: 1 }, unique: true, sparse: true },
      { key: { at: 1 } },
    ]);
    assert.deepEqual(
      indexesOn(SPEC, true).map(({ unique }) => unique),
      [true, true, true, undefined],
    );
  });

  it('let jobs, their history, callbacks and logs be sharded by account on MongoDB', async () => {
    const { connection, close } = await openDomain();
    const names = [
      'jobs',
      'job_inputs',
      'job_history',
      'callback_deliveries',
      'request_log',
      'usage_buckets',
    ];
    const specs = declaredCollections(connection).filter(({ name }) => names.includes(name));
    assert.equal(specs.length, names.length);
    const unique = specs.filter((spec) => indexesOn(spec, false).some((index) => index.unique));
    await close();
    assert.deepEqual(unique, []);
  });
});
