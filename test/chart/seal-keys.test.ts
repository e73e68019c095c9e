import assert from 'node:assert/strict';
import { LEAST, over, render } from './support/helm.ts';
import { environment, podSpec } from './support/pods.ts';

describe('the keys that seal PDFs', () => {
  it('are mounted into workers, where their variable says, and into nothing else', async () => {
    const manifests = await render('helm4', over(LEAST, { sealKeys: { existingSecret: { name: 'keys' } } }));
    const { volumes, containers } = podSpec(manifests, 'worker');
    const volume = volumes.find(({ name }: { name: string }) => name === 'seal-keys');
    assert.deepEqual(volume.secret, { secretName: 'keys' });
    const mount = containers[0].volumeMounts.find(({ name }: { name: string }) => name === 'seal-keys');
    const { PLATEN_SEAL_KEYS_DIR } = environment(manifests, 'worker');
    assert.deepEqual([mount.mountPath, mount.readOnly], [PLATEN_SEAL_KEYS_DIR, true]);
    for (const role of ['api', 'dispatcher', 'controller']) {
      assert.equal(environment(manifests, role).PLATEN_SEAL_KEYS_DIR, undefined);
      assert.doesNotMatch(JSON.stringify(podSpec(manifests, role)), /seal-keys/);
    }
  });

  it('are not there by default', async () => {
    const manifests = await render('helm4', LEAST);
    assert.equal(environment(manifests, 'worker').PLATEN_SEAL_KEYS_DIR, undefined);
    assert.doesNotMatch(JSON.stringify(podSpec(manifests, 'worker')), /seal-keys/);
  });
});
