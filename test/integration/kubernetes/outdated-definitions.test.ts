import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import type { Kind, KubeObject } from '../../../src/infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import { MetricTarget } from '../../../src/infra/telemetry/metrics.ts';
import { createControllerMetrics } from '../../../src/kubernetes/controller-metrics.ts';
import { watchDefinitions } from '../../../src/kubernetes/definition-watch.ts';
import { LEAST, render } from '../../chart/support/helm.ts';
import { eventually } from '../../support/eventually.ts';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';
import { makeNamespace } from '../../support/kubernetes/objects.ts';
import { grantRights, kubeconfigOf } from '../../support/kubernetes/service-account.ts';

type Definition = KubeObject<{
  readonly spec: {
    readonly versions: readonly {
      readonly schema: { readonly openAPIV3Schema: { readonly properties: Record<string, OldSchema> } };
    }[];
  };
}>;
interface OldSchema {
  readonly properties: Record<string, OldSchema>;
}
const DEFINITIONS: Kind<Definition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
};
const POOLS = 'renderpools.platen.dev';

describe("What the controller finds of the cluster's definitions, with the rights that the chart gives it", () => {
  let plane: ControlPlane;
  let admin: KubernetesApi;
  let api: KubernetesApi;
  let folder: string;
  before(async () => {
    plane = await startControlPlane();
    await plane.installCrds();
    admin = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
    const namespace = await makeNamespace(admin);
    folder = await mkdtemp(join(tmpdir(), 'platen-definitions-'));
    await grantRights(plane, folder, await render('helm4', LEAST, { namespace }));
    const account = { namespace, name: 'platen-controller' };
    api = await openKubernetesApi({ kubeconfigPath: await kubeconfigOf(plane, folder, account) });
  });
  after(async () => {
    await Promise.all([api?.close(), admin?.close()]);
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** What it logs and measures at its first comparison. */
  const compared = async (source: Pick<KubernetesApi, 'openApi'> = api) => {
    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const metrics = createControllerMetrics(new MetricTarget(new Registry()));
    const stop = new AbortController();
    let asked = 0;
    const counting = {
      openApi: (...args: Parameters<KubernetesApi['openApi']>) => {
        asked += 1;
        return source.openApi(...args);
      },
    };
    const watching = watchDefinitions({ api: counting, metrics, logger }, stop.signal);
    await eventually('it has compared', async () => {
      const { values } = await metrics.definitionOutdated.get();
      return asked > 0 && (values.length > 0 || lines.length > 0);
    });
    const { values } = await metrics.definitionOutdated.get();
    stop.abort();
    await watching;
    return { lines, values: Object.fromEntries(values.map(({ labels, value }) => [labels.kind, value])) };
  };

  it('is nothing while they are those of its version', async () => {
    const { lines, values } = await compared();
    assert.deepEqual(values, { RenderPlan: 0, RenderPool: 0 });
    assert.deepEqual(lines, []);
  });

  it('is the fields that an older one lacks', async () => {
    const file = new URL('../../../crds/platen.dev_renderpools.yaml', import.meta.url);
    const older = parse(await readFile(file, 'utf8')) as Definition;
    const { spec, status } = older.spec.versions[0]!.schema.openAPIV3Schema.properties;
    delete spec!.properties.tolerations;
    delete status!.properties.desiredReplicas;
    const there = await admin.get(DEFINITIONS, { name: POOLS });
    const { resourceVersion } = there!.metadata;
    await admin.replace(DEFINITIONS, {
      ...older,
      metadata: { ...older.metadata, resourceVersion },
    } as Definition);
    await eventually('the API server publishes it', async () => {
      const { values } = await compared();
      return values.RenderPool === 1;
    });
    const { lines, values } = await compared();
    assert.deepEqual(values, { RenderPlan: 0, RenderPool: 1 });
    assert.equal(lines.length, 1);
    assert.deepEqual(lines[0]!.missing, { RenderPool: ['spec.tolerations', 'status.desiredReplicas'] });
  });

  it('is unknown, and said to be, where it may not be read', async () => {
    const { lines, values } = await compared({ openApi: () => Promise.reject(new Error('forbidden')) });
    assert.deepEqual(values, {});
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['the definitions of custom resources cannot be compared'],
    );
  });
});
