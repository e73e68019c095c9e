import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CHART,
  HELMS,
  LEAST,
  type Manifest,
  manifestsOf,
  over,
  runHelm,
  type Values,
} from './support/helm.ts';

const INSTANCE = 'app.kubernetes.io/instance';
const ALIASES = ['letters', 'tickets'];
const VALUES: Values = {
  letters: over(LEAST, { demo: { enabled: true }, serviceMonitor: { enabled: true } }),
  tickets: over(LEAST, {
    demo: { enabled: true },
    serviceMonitor: { enabled: true },
    crds: { enabled: false },
    controller: { watchNamespaces: ['tickets'] },
  }),
};

describe('a chart that has this one twice', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-aliases-'));
    const dependencies = ALIASES.map((alias) => ({ name: 'platen', version: '*', alias }));
    const chart = { apiVersion: 'v2', name: 'print-house', version: '1.0.0', dependencies };
    await writeFile(join(folder, 'Chart.yaml'), JSON.stringify(chart));
    await mkdir(join(folder, 'charts'));
    await cp(CHART, join(folder, 'charts/platen'), { recursive: true });
  });
  after(() => rm(folder, { recursive: true }));

  for (const helm of HELMS) {
    it(`has pods that only the selectors of their own alias select, by ${helm}`, async () => {
      const { code, stdout, stderr } = await runHelm(
        helm,
        ['template', 'ours', folder, '--kube-version', '1.34.0'],
        { values: VALUES },
      );
      assert.equal(code, 0, stderr);
      const manifests = manifestsOf(stdout);
      const selected = new Map<string, Set<string>>();
      for (const manifest of manifests) {
        const selector = selectorOf(manifest);
        if (selector === undefined) continue;
        const of = ALIASES.find((alias) => manifest.metadata.name.startsWith(`ours-${alias}`));
        assert.ok(of, manifest.metadata.name);
        selected.set(of, (selected.get(of) ?? new Set()).add(selector[INSTANCE]!));
      }
      assert.deepEqual([...selected.keys()].sort(), ALIASES);
      for (const [alias, instances] of selected) assert.deepEqual([...instances], [`ours-${alias}`]);
    });
  }
});

/** What a Service, a workload, a budget or a policy selects pods by. */
function selectorOf({ kind, spec }: Manifest): Record<string, string> | undefined {
  if (kind === 'Service') return spec.selector;
  if (kind === 'NetworkPolicy') return spec.podSelector.matchLabels;
  return spec?.selector?.matchLabels;
}
