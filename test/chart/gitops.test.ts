import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { type ControlPlane, sharedControlPlane } from '../support/kubernetes/control-plane.ts';
import { BIN } from '../support/kubernetes/program.ts';
import { luaBlocks, yamlBlocks } from '../support/markdown.ts';
import { find, HELMS, LEAST, type Manifest, manifestsOf, over, render, type Values } from './support/helm.ts';
import { defaultResources } from './support/pods.ts';

const run = promisify(execFile);
const TRACKING = /^(app\.kubernetes\.io\/instance|argocd\.argoproj\.io\/)/;
const PAGE = 'gitops.md';

describe('the chart under Argo CD and Flux', () => {
  let folder: string;
  let manifests: Manifest[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-gitops-'));
    manifests = (await yamlBlocks(PAGE)).flatMap(manifestsOf);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const helm of HELMS) {
    it(`gives nothing that the controller makes the label that Argo CD tracks by, by ${helm}`, async () => {
      const values = over(LEAST, { commonLabels: { team: 'print' }, commonAnnotations: { note: 'x' } });
      const rendered = await render(helm, values);
      const files = find(rendered, 'ConfigMap', 'platen-controller').data;
      const made = [...defaultResources(rendered), parse(files['link-secret.yaml']) as Manifest];
      assert.ok(made.length >= 6);
      for (const { kind, metadata } of made) {
        const { labels = {}, annotations = {} } = metadata;
        const tracked = [...Object.keys(labels), ...Object.keys(annotations)].filter((key) =>
          TRACKING.test(key),
        );
        assert.deepEqual(tracked, [], `${kind} ${metadata.name}`);
        assert.deepEqual([labels.team, annotations.note], ['print', 'x']);
      }
    });

    it(`takes the values of the page, and leaves plans, pools and keys to Git then, by ${helm}`, async () => {
      const application = find(manifests, 'Application', 'platen').spec.source.helm.valuesObject as Values;
      const release = find(manifests, 'HelmRelease', 'platen').spec.values as Values;
      for (const values of [application, release]) {
        const rendered = await render(helm, values, { namespace: 'platen' });
        const kinds = rendered.map(({ kind }) => kind);
        assert.ok(!kinds.includes('CustomResourceDefinition') && !kinds.includes('Secret'));
        const { data } = find(rendered, 'ConfigMap', 'platen-controller');
        assert.deepEqual(Object.keys(data), ['worker-template.yaml']);
      }
    });
  }

  it('has plans and pools on the page that the API server accepts', async () => {
    const plane: ControlPlane = await sharedControlPlane();
    await plane.installCrds();
    const items = manifests
      .filter(({ apiVersion }) => apiVersion.startsWith('platen.dev/'))
      .map((manifest) => ({ ...manifest, metadata: { ...manifest.metadata, namespace: 'default' } }));
    assert.deepEqual(items.map(({ kind }) => kind).sort(), ['RenderPlan', 'RenderPool']);
    const file = join(folder, 'objects.json');
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await plane.kubectl('create', '--validate=strict', '--dry-run=server', '-f', file);
  });

  it('has a health check for Argo CD that follows the condition Ready', async () => {
    const [check] = await luaBlocks(PAGE, '## Argo CD');
    const healthOf = async (object: unknown) => {
      const file = join(folder, 'health.lua');
      const script = `local obj = ${lua(object)}\nlocal hs = (function()\n${check}\nend)()\nprint(hs.status)`;
      await writeFile(file, script);
      return (await run(join(BIN, 'glua'), [file])).stdout.trim();
    };
    const pool = (condition: object, observedGeneration = 2) => ({
      metadata: { generation: 2 },
      status: {
        observedGeneration,
        conditions: [
          { type: 'Accepted', status: 'False', reason: 'X', message: 'x' },
          { type: 'Ready', message: 'm', ...condition },
        ],
      },
    });
    assert.equal(await healthOf({ metadata: { generation: 1 } }), 'Progressing');
    assert.equal(
      await healthOf({ metadata: { generation: 1 }, status: { observedGeneration: 1 } }),
      'Progressing',
    );
    assert.equal(await healthOf(pool({ status: 'True', reason: 'Ready' })), 'Healthy');
    assert.equal(await healthOf(pool({ status: 'True', reason: 'Ready' }, 1)), 'Progressing');
    assert.equal(await healthOf(pool({ status: 'False', reason: 'Refused' })), 'Degraded');
    assert.equal(await healthOf(pool({ status: 'False', reason: 'WorkersStarting' })), 'Progressing');
  });
});

/** A value as Lua writes it. */
function lua(value: unknown): string {
  if (Array.isArray(value)) return `{ ${value.map(lua).join(', ')} }`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${name} = ${lua(field)}`);
  return `{ ${fields.join(', ')} }`;
}
