import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../support/kubernetes/control-plane.ts';
import { runLines } from '../support/kubernetes/shell.ts';
import { shellBlocks } from '../support/markdown.ts';
import { CHART, HELMS, type Helm, LEAST, over, runHelm, type Values } from './support/helm.ts';

const CRDS_CHART = `${CHART}-crds`;
const DEFINITIONS = ['renderplans.platen.dev', 'renderpools.platen.dev'];
const SANDBOXED = over(LEAST, { worker: { sandbox: { installProfile: true } } });

/** What one cluster takes of releases; nothing runs here, so nothing is waited for. */
describe('several releases in one cluster', () => {
  let plane: ControlPlane;
  let folder: string;
  /** A copy of the chart, of another version. */
  let next: string;

  before(async () => {
    plane = await startControlPlane();
    folder = await mkdtemp(join(tmpdir(), 'platen-releases-'));
    next = join(folder, 'platen');
    await cp(CHART, next, { recursive: true });
    const file = join(next, 'Chart.yaml');
    await writeFile(file, (await readFile(file, 'utf8')).replace(/^version: .*$/m, 'version: 9.9.9'));
  });
  after(async () => {
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const helmDoes = async (helm: Helm, args: readonly string[], values?: Values) => {
    const options = { kubeconfig: plane.kubeconfigPath, ...(values && { values }) };
    const { code, stdout, stderr } = await runHelm(helm, args, options);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const install = (helm: Helm, release: string, namespace: string, chart = CHART, values = SANDBOXED) =>
    helmDoes(helm, ['install', release, chart, '--namespace', namespace, '--create-namespace'], values);
  const upgrade = (helm: Helm, release: string, namespace: string, chart = CHART) =>
    helmDoes(helm, ['upgrade', release, chart, '--namespace', namespace], SANDBOXED);
  const uninstall = (helm: Helm, release: string, namespace: string) =>
    helmDoes(helm, ['uninstall', release, '--namespace', namespace]);
  /** Whose each definition is. */
  const owners = async () => {
    const { items } = JSON.parse(await plane.kubectl('get', 'crd', ...DEFINITIONS, '-o', 'json'));
    return items.map(
      ({ metadata: { annotations = {} } }: { metadata: { annotations?: Record<string, string> } }) =>
        [annotations['meta.helm.sh/release-namespace'], annotations['meta.helm.sh/release-name']].join('/'),
    ) as string[];
  };
  const definitionsIn = async (helm: Helm, release: string, namespace: string) => {
    const manifest = await helmDoes(helm, ['get', 'manifest', release, '--namespace', namespace]);
    return DEFINITIONS.filter((name) => manifest.includes(`name: ${name}`));
  };
  const deleteDefinitions = async () => {
    await plane.served(DEFINITIONS.join());
    await plane.kubectl('delete', 'crd', ...DEFINITIONS);
  };
  const has = async (...object: string[]) =>
    (await plane.kubectl('get', ...object, '--ignore-not-found')) !== '';

  it('allows a second one in another namespace, of another version, without definitions of its own', async () => {
    await install('helm3', 'platen', 'one');
    const output = await install('helm4', 'platen', 'two', next);
    assert.match(output, /renderplans\.platen\.dev .* belong to the release platen in the namespace one,/);
    assert.deepEqual(await owners(), ['one/platen', 'one/platen']);
    assert.deepEqual(await definitionsIn('helm3', 'platen', 'one'), DEFINITIONS);
    assert.deepEqual(await definitionsIn('helm4', 'platen', 'two'), []);
    for (const namespace of ['one', 'two']) {
      assert.ok(await has('namespace', `${namespace}-platen-node-setup`));
      assert.ok(await has('deployment', 'platen-api', '-n', namespace));
    }
  });

  it('upgrades each by itself, and the definitions with their owner', async () => {
    await upgrade('helm4', 'platen', 'two', next);
    await upgrade('helm3', 'platen', 'one', next);
    assert.deepEqual(await definitionsIn('helm3', 'platen', 'one'), DEFINITIONS);
    assert.deepEqual(await definitionsIn('helm4', 'platen', 'two'), []);
  });

  it('uninstalls the owner of the definitions, and leaves them and the other release unchanged', async () => {
    await uninstall('helm3', 'platen', 'one');
    assert.equal((await owners()).length, 2);
    assert.ok(await has('deployment', 'platen-api', '-n', 'two'));
    assert.ok(await has('daemonset', 'platen-seccomp-installer', '-n', 'two-platen-node-setup'));
  });

  it('allows another one under another name where the first one was', async () => {
    await install('helm3', 'again', 'one');
    await upgrade('helm3', 'again', 'one');
    assert.ok(await has('deployment', 'again-platen-api', '-n', 'one'));
  });

  for (const helm of HELMS) {
    it(`refuses one whose controller would work on a namespace of another, by ${helm}`, async () => {
      const refused = async (release: string, namespace: string, values: Values) => {
        const args = ['install', release, CHART, '--namespace', namespace, '--create-namespace'];
        const { code, stderr } = await runHelm(helm, args, { kubeconfig: plane.kubeconfigPath, values });
        assert.notEqual(code, 0);
        return stderr;
      };
      const already = /release again in the namespace one works on the namespace one already/;
      assert.match(await refused('beside', 'one', LEAST), already);
      const watching = over(LEAST, { controller: { watchNamespaces: ['four', 'one'] } });
      assert.match(await refused('platen', 'four', watching), already);
      await upgrade(helm, 'again', 'one');
    });

    it(`moves the definitions to a separate release, by ${helm}, with and without their previous owner`, async () => {
      const own = ['upgrade', '--install', 'platen-crds', CRDS_CHART, '--namespace', `crds-${helm}`];
      await helmDoes(helm, [...own, '--create-namespace', '--take-ownership']);
      const here = `crds-${helm}/platen-crds`;
      assert.deepEqual(await owners(), [here, here]);
      await upgrade('helm3', 'again', 'one');
      await helmDoes(helm, [...own]);
      assert.deepEqual(await owners(), [here, here]);
    });
  }

  it('uninstalls a former owner of the definitions without them', async () => {
    await deleteDefinitions();
    await install('helm4', 'third', 'three', CHART, LEAST);
    assert.deepEqual(await owners(), ['three/third', 'three/third']);
    await helmDoes('helm4', [
      ...['upgrade', '--install', 'platen-crds', CRDS_CHART, '--namespace', 'crds-helm4'],
      ...['--take-ownership'],
    ]);
    await helmDoes('helm4', ['upgrade', 'third', CHART, '--namespace', 'three'], LEAST);
    await uninstall('helm4', 'third', 'three');
    assert.equal((await owners()).length, 2);
  });

  it('is installed with definitions that kubectl has created', async () => {
    await deleteDefinitions();
    await plane.installCrds();
    await install('helm3', 'platen', 'four', CHART, LEAST);
    assert.deepEqual(await definitionsIn('helm3', 'platen', 'four'), []);
  });

  it('is removed by the commands of docs/install.md, and then the definitions with the plans', async () => {
    const [taken, removed] = await shellBlocks('install.md', '### Taking it away');
    // What the controller makes, of which none runs here.
    await plane.kubectl('create', 'configmap', 'platen-controller-made', '-n', 'four');
    await plane.kubectl('create', 'secret', 'generic', 'platen-secret', '-n', 'four');
    const metadata = { name: 'gold', namespace: 'four' };
    const plan = { apiVersion: 'platen.dev/v1alpha1', kind: 'RenderPlan', metadata, spec: {} };
    const file = join(folder, 'plan.json');
    await writeFile(file, JSON.stringify(plan));
    await plane.kubectl('create', '-f', file);
    await runLines(taken!, plane, 'four', 'helm3');
    assert.ok(!(await has('deployments', '-n', 'four')));
    assert.ok(await has('renderplan', 'gold', '-n', 'four'));
    await runLines(removed!, plane, 'four', 'helm3');
    assert.ok(!(await has('crd', ...DEFINITIONS)));
  });
});
