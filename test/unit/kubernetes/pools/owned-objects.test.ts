import assert from 'node:assert/strict';
import { ownedObjects, type PoolsSettings } from '../../../../src/kubernetes/pools/owned-objects.ts';
import type { RenderPool } from '../../../../src/kubernetes/resources/kinds.ts';
import { renderPoolSpecSchema } from '../../../../src/kubernetes/resources/render-pool.ts';

const SETTINGS: PoolsSettings = {
  template: { spec: { containers: [{ name: 'worker' }] } },
  blockedNetworks: [],
  opsPort: 'ops',
  networkPolicies: false,
};

function pool(spec: Readonly<Record<string, unknown>>): RenderPool {
  return {
    apiVersion: 'platen.dev/v1alpha1',
    kind: 'RenderPool',
    metadata: { name: 'p', uid: 'u' },
    spec: renderPoolSpecSchema.parse(spec),
  };
}

describe('the objects of a pool', () => {
  it('replace a quarter of the workers at a time, and end none before its successor is ready', () => {
    const { deployment } = ownedObjects(pool({}), SETTINGS);
    assert.deepEqual(deployment.spec?.strategy, {
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 },
    });
  });
});
