import { randomUUID } from 'node:crypto';
import { openKubernetesApi } from '../../src/infra/kube/client/open-kubernetes-api.ts';
import { LeaderElection } from '../../src/infra/kube/leader/leader-election.ts';
import { eventually } from '../support/eventually.ts';
import { startControlPlane } from '../support/kubernetes/control-plane.ts';
import { makeNamespace } from '../support/kubernetes/objects.ts';
import { severableWay } from '../support/kubernetes/severable.ts';
import { reported } from './figures.ts';

/*
 * Of `make soak`: how long nobody leads after a leader was cut off from the API server and has stopped, as a part of the
 * lease. Its times are a third of the real ones.
 */
const TIMING = { leaseMs: 5000, renewMs: 3300, retryMs: 500 };
const LOSSES = 10;

const plane = await startControlPlane();
const namespace = await makeNamespace(await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath }));
const ratios: number[] = [];
let leader: string | undefined;
let lostAtMs: number | undefined;

async function stand(name: string) {
  const way = await severableWay(plane);
  const api = await openKubernetesApi({ kubeconfigPath: way.kubeconfigPath });
  const begin = () =>
    new LeaderElection({
      api,
      namespace,
      name: 'leader',
      identity: `${name}-${randomUUID()}`,
      timing: TIMING,
      logger: { info: () => {}, warn: () => {} },
      onElected: () => {
        if (lostAtMs !== undefined) ratios.push((performance.now() - lostAtMs) / TIMING.leaseMs);
        lostAtMs = undefined;
        leader = name;
      },
      onLost: () => {
        lostAtMs = performance.now();
        begin();
      },
    }).start();
  begin();
  return { name, way };
}

try {
  const candidates = [await stand('a'), await stand('b')];
  for (let loss = 1; loss <= LOSSES; loss += 1) {
    await eventually('somebody leads', () => leader !== undefined, 60_000);
    const { name, way } = candidates.find((candidate) => candidate.name === leader)!;
    way.cut();
    await eventually('another leads', () => leader !== name, 60_000);
    way.repair();
  }
} finally {
  await plane.stop();
}
console.log(reported('Nobody leading after a leader has stopped, in parts of a lease', ratios));
process.exit();
