import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { KubernetesApi } from '../../../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../../../src/infra/kube/client/open-kubernetes-api.ts';
import { LeaderElection } from '../../../../../src/infra/kube/leader/leader-election.ts';
import { LEASES } from '../../../../../src/infra/kube/leader/lease.ts';
import { eventually } from '../../../../support/eventually.ts';
import { type ControlPlane, sharedControlPlane } from '../../../../support/kubernetes/control-plane.ts';
import { makeNamespace } from '../../../../support/kubernetes/objects.ts';
import { type SeverableWay, severableWay } from '../../../../support/kubernetes/severable.ts';

/** A third of the real times: a machine that is busy with other things must still renew in time. */
const TIMING = { leaseMs: 5000, renewMs: 3300, retryMs: 500 };
const LOSSES = 2;
const NEXT_WITHIN_MS = 60_000;

/** A candidate that has begun to lead, or has stopped, in order. */
interface Change {
  readonly candidate: string;
  readonly leads: boolean;
}

/** A process that stands for election, ends when it has lost, and is started again. */
class Candidate {
  readonly name: string;
  readonly way: SeverableWay;
  readonly api: KubernetesApi;
  readonly namespace: string;
  readonly changes: Change[];
  election: LeaderElection;

  constructor(name: string, way: SeverableWay, api: KubernetesApi, namespace: string, changes: Change[]) {
    this.name = name;
    this.way = way;
    this.api = api;
    this.namespace = namespace;
    this.changes = changes;
    this.election = this.#stand();
  }

  #stand(): LeaderElection {
    const report = (leads: boolean) => this.changes.push({ candidate: this.name, leads });
    const election = new LeaderElection({
      api: this.api,
      namespace: this.namespace,
      name: 'leader',
      identity: `${this.name}-${randomUUID()}`,
      timing: TIMING,
      logger: { info: () => {}, warn: () => {} },
      onElected: () => report(true),
      onLost: () => {
        report(false);
        this.election = this.#stand();
      },
    });
    election.start();
    return election;
  }
}

describe('two candidates for one Lease of a real API server', () => {
  let plane: ControlPlane;
  let api: KubernetesApi;
  let namespace: string;
  const opened: { close(): Promise<void> }[] = [];
  before(async () => {
    plane = await sharedControlPlane();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
    namespace = await makeNamespace(api);
  });
  after(async () => {
    for (const one of opened) await one.close();
    await api?.close();
  });

  async function stand(name: string, changes: Change[]): Promise<Candidate> {
    const way = await severableWay(plane);
    const ownApi = await openKubernetesApi({ kubeconfigPath: way.kubeconfigPath });
    const candidate = new Candidate(name, way, ownApi, namespace, changes);
    opened.push({
      close: async () => {
        await ownApi.close();
        await candidate.election.stop();
        await way.stop();
      },
    });
    return candidate;
  }

  it('never lead together, and one that is cut off has stopped before the other begins', async function () {
    this.timeout((LOSSES + 1) * NEXT_WITHIN_MS);
    const changes: Change[] = [];
    const elected = () => changes.filter(({ leads }) => leads).map(({ candidate }) => candidate);
    const candidates = [await stand('a', changes), await stand('b', changes)];
    let together = 0;
    const checking = setInterval(() => {
      if (candidates.every(({ election }) => election.isLeader)) together += 1;
    }, 5);
    try {
      await eventually('a first leader', () => elected().length > 0);
      for (let n = 1; n <= LOSSES; n += 1) {
        const leader = candidates.find(({ name }) => name === elected().at(-1))!;
        leader.way.cut();
        const next = () => elected().at(-1) !== leader.name;
        await eventually(`the leader after loss ${n}`, next, NEXT_WITHIN_MS);
        leader.way.repair();
      }
    } finally {
      clearInterval(checking);
    }
    assert.equal(together, 0);
    let leader: string | undefined;
    for (const { candidate, leads } of changes) {
      // A candidate that ends had been elected unless it was stopped before, as the last one is.
      if (leads) assert.equal(leader, undefined, JSON.stringify(changes));
      if (leads || leader === candidate) leader = leads ? candidate : undefined;
    }
    const lease = await api.get(LEASES, { namespace, name: 'leader' });
    assert.ok(elected().length > LOSSES);
    assert.equal(lease?.spec?.leaseTransitions, elected().length - 1);
    // What the API server takes for a MicroTime; of any other form it says 400.
    assert.match(lease?.spec?.renewTime ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });
});
