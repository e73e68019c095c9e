import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';
import { assertGone, descendants } from '../../support/processes.ts';

const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'presses.test.platen.dev' },
  spec: {
    group: 'test.platen.dev',
    scope: 'Namespaced',
    names: { plural: 'presses', singular: 'press', kind: 'Press' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { sheets: { type: 'integer', maximum: 9 } } } },
          },
        },
      },
    ],
  },
};

describe('the control plane of the tests', () => {
  let plane: ControlPlane;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-crds-'));
    plane = await startControlPlane();
  });
  after(async () => {
    await plane.stop();
    await rm(folder, { recursive: true });
  });

  it('has the version of Kubernetes that it reports', async () => {
    const { serverVersion } = JSON.parse(await plane.kubectl('version', '-o', 'json'));
    assert.match(serverVersion.gitVersion, /^v1\.\d+\.\d+$/);
  });

  it('serves custom resources as soon as their definitions are installed, and validates them by their schema', async () => {
    await writeFile(join(folder, 'presses.yaml'), JSON.stringify(DEFINITION));
    await plane.installCrds(folder);

    const press = (sheets: number) => {
      const spec = { sheets };
      const object = { apiVersion: 'test.platen.dev/v1', kind: 'Press', metadata: { name: 'a' }, spec };
      const file = join(folder, `press-${sheets}.json`);
      return writeFile(file, JSON.stringify(object)).then(() => plane.kubectl('apply', '-f', file));
    };
    await assert.rejects(press(10), /should be less than or equal to 9/);
    await press(9);
    assert.equal(await plane.kubectl('get', 'press', 'a', '-o', 'jsonpath={.spec.sheets}'), '9');
  });

  it('keeps its objects and its address while the API server is away', async () => {
    await plane.kubectl('create', 'configmap', 'kept', '--from-literal=a=b');
    await plane.haltApiServer();
    await assert.rejects(plane.kubectl('get', 'configmap', 'kept'), /refused/);
    await plane.restartApiServer();
    assert.equal(await plane.kubectl('get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}'), 'b');
  });

  it('leaves no process and no folder behind', async () => {
    const before = descendants(process.pid);
    const other = await startControlPlane();
    const mine = descendants(process.pid).filter(({ pid }) => !before.some((known) => known.pid === pid));
    assert.equal(mine.length, 2, 'etcd and the API server');
    await other.stop();
    await assertGone(mine);
    assert.ok(!existsSync(dirname(other.kubeconfigPath)));
  });
});
