import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../support/kubernetes/control-plane.ts';
import { runLines } from '../support/kubernetes/shell.ts';
import { shellBlocks, yamlBlocks } from '../support/markdown.ts';
import { LEAST, type Manifest, manifestsOf, over, render, type Values } from './support/helm.ts';

/** Kinds that an API server has only once somebody has installed them. */
const OF_OTHERS = { serviceMonitor: { enabled: false }, prometheusRule: { enabled: false } };

/**
 * The commands and values of the pages about installing, against a real API server without nodes. What needs a whole
 * cluster is run by `make e2e`; kind, Docker and mongodump are not run.
 */
describe('the pages about installing', () => {
  let plane: ControlPlane;
  let folder: string;

  before(async () => {
    plane = await startControlPlane();
    folder = await mkdtemp(join(tmpdir(), 'platen-documented-'));
  });
  after(async () => {
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs commands as they stand, but for the files that a reader has in the folder. */
  const run = (commands: string, namespace = 'default') =>
    runLines(commands.replaceAll(/ (platen|acme)\.yaml\b/g, ` ${folder}/$1.yaml`), plane, namespace);
  const imageOfApi = () =>
    plane.kubectl(
      ...['get', 'deployment', 'platen-api', '-n', 'platen', '-o'],
      'jsonpath={.spec.template.spec.containers[0].image}',
    );

  it('install a release into any cluster', async () => {
    const [install] = await shellBlocks('install.md', '### Any cluster');
    await run(install!);
    assert.match(await imageOfApi(), /^registry\.example\.com\/team\/platen:/);
  });

  it('upgrade it, with the values file and without', async () => {
    const [upgrade] = await shellBlocks('upgrades.md', '## Helm');
    const [values] = await yamlBlocks('production.md', '## A values file');
    await writeFile(join(folder, 'platen.yaml'), JSON.stringify(over(valuesOf(values!), OF_OTHERS)));
    await run(upgrade!);
    assert.match(await imageOfApi(), /^registry\.example\.com\/team\/platen@sha256:0+$/);
  });

  it('roll it back, with its history', async () => {
    const [commands] = await shellBlocks('upgrades.md', '## Rolling back');
    assert.match(commands!, / --wait /);
    // Without nodes no pod becomes ready.
    const said = await run(commands!.replaceAll(' --wait', ''));
    assert.match(said, /^3\s.*deployed/m);
    assert.match(await run('helm history platen -n platen'), /^4\s.*deployed.*Rollback to 2/m);
  });

  it('restart all roles', async () => {
    const [restart] = await shellBlocks('production.md', '## Secrets');
    const said = await run(restart!);
    for (const role of ['api', 'dispatcher', 'controller'])
      assert.match(said, new RegExp(`deployment\\.apps/platen-${role} restarted`));
  });

  it('give the definitions a release of their own', async () => {
    const [own] = await shellBlocks('production.md', '## Several releases');
    await run(own!);
    assert.match(await run('helm list -n platen-crds'), /^platen-crds\s.*deployed/m);
  });

  it('install a demonstration', async () => {
    const [kind, , show] = await shellBlocks('install.md', '### kind, in five minutes');
    const [install] = /^helm install .*$/m.exec(kind!)!;
    await run(`${install}\n${show!.split('\n')[0]}`);
    assert.match(await run('kubectl get statefulsets -o name'), /platen-demo-kafka\n.*platen-demo-mongodb/);
  });

  it('make a plan and a pool', async () => {
    const [manifests] = await yamlBlocks('install.md', '### A plan and a pool of its own');
    const [commands] = await shellBlocks('install.md', '### A plan and a pool of its own');
    await writeFile(join(folder, 'acme.yaml'), manifests!);
    await run(/^kubectl apply .*$/m.exec(commands!)![0]);
    assert.equal(await run("kubectl get renderplan acme -o jsonpath='{.spec.poolRef}'"), 'acme');
  });

  it('ask for the addresses of the API server', async () => {
    const [list] = await shellBlocks('production.md', '### The network policies');
    // On loopback it publishes none.
    await run(list!);
  });

  for (const page of ['production.md', 'billing.md', 'upgrades.md']) {
    it(`give values in ${page} whose every object the API server accepts`, async () => {
      const blocks = (await yamlBlocks(page)).filter((block) => !/^apiVersion:/m.test(block));
      assert.ok(blocks.length > 0);
      for (const block of blocks) {
        const given = valuesOf(block);
        const whole = 'mongodb' in given ? given : over(LEAST, given);
        await accept(await render('helm4', over(whole, OF_OTHERS), { namespace: 'platen' }));
      }
    });
  }

  /** The API server checks the objects as it would on a real write. */
  async function accept(items: readonly Manifest[]): Promise<void> {
    const file = join(folder, 'objects.json');
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const flags = ['--server-side', '--dry-run=server', '--field-manager=documented', '--force-conflicts'];
    await plane.kubectl('apply', '--validate=strict', '-f', file, ...flags);
  }
});

/** With a digest in the place of the ellipsis, which stands for one. */
function valuesOf(block: string): Values {
  const [values] = manifestsOf(block.replaceAll('sha256:…', `sha256:${'0'.repeat(64)}`));
  return values!;
}
