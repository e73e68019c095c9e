import assert from 'node:assert/strict';
import { costWritersOf } from '../../../../src/kubernetes/pools/foreign-writers.ts';
import { DELETION_COST } from '../../../../src/kubernetes/pools/labels.ts';
import { slimPod } from '../../../../src/kubernetes/pools/slim-pod.ts';
import type { Pod } from '../../../../src/kubernetes/resources/kinds.ts';

const METADATA = {
  name: 'worker-1',
  namespace: 'ns',
  uid: 'u',
  resourceVersion: '7',
  labels: { 'platen.dev/pool': 'default' },
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r' }],
  deletionTimestamp: '2030-01-01T00:00:00Z',
};
const MANAGED = [
  { manager: 'someone', fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${DELETION_COST}`]: {} } } } },
];
const STATUS = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' as const }] };

function pod(annotations?: Record<string, string>): Pod {
  const whole = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...METADATA, managedFields: MANAGED, ...(annotations && { annotations }) },
    spec: { nodeName: 'node-1', containers: [{ name: 'worker' }] },
    status: { ...STATUS, hostIP: '10.0.0.1' },
  };
  return whole;
}

describe('the cached fields of a pod', () => {
  it('are those that the controller reads', () => {
    assert.deepEqual(slimPod(pod()), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: METADATA,
      spec: { nodeName: 'node-1' },
      status: STATUS,
    });
  });

  it('still show the writers of a deletion cost', () => {
    assert.deepEqual(costWritersOf(slimPod(pod({ [DELETION_COST]: '5' }))), ['someone']);
  });

  it('may be missing in a pod that has just been made', () => {
    const bare: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } };
    assert.deepEqual(slimPod(bare), bare);
  });
});
