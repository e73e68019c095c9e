import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { KubernetesApi } from '../../../../src/kubernetes/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../../src/kubernetes/client/open-kubernetes-api.ts';
import { LeaderElection } from '../../../../src/kubernetes/leader/leader-election.ts';
import { LEASES } from '../../../../src/kubernetes/leader/lease.ts';
import { eventually } from '../../../support/eventually.ts';
import { type ControlPlane, sharedControlPlane } from '../../../support/kubernetes/control-plane.ts';
import { makeNamespace } from '../../../support/kubernetes/objects.ts';
import { type SeverableWay, severableWay } from '../../../support/kubernetes/severable.ts';

/** A third of the real times: a machine that is busy with other things must still renew in time. */
const TIMING = { leaseMs: 5000, renewMs: 3300, retryMs: 500 };
const LOSSES = 4;
const NEXT_WITHIN_MS = 60_000;

interface Term {
  readonly candidate: string;
  readonly fromMs: number;
  toMs: number;
}

/** A process that stands for election, ends when it has lost, and is started again. */
class Candidate {
  readonly name: string;
  readonly way: SeverableWay;
  readonly api: KubernetesApi;
  readonly namespace: string;
  readonly terms: Term[];
  election: LeaderElection;

  constructor(name: string, way: SeverableWay, api: KubernetesApi, namespace: string, terms: Term[]) {
    this.name = name;
    this.way = way;
    this.api = api;
    this.namespace = namespace;
    this.terms = terms;
    this.election = this.#stand();
  }

  #stand(): LeaderElection {
    const term: Term = { candidate: this.name, fromMs: 0, toMs: Number.POSITIVE_INFINITY };
    const election = new LeaderElection({
      api: this.api,
      namespace: this.namespace,
      name: 'leader',
      identity: `${this.name}-${randomUUID()}`,
      timing: TIMING,
      logger: { info: () => {}, warn: () => {} },
      onElected: () => this.terms.push({ ...term, fromMs: performance.now() }),
      onLost: () => {
        const last = this.terms.findLast(({ candidate }) => candidate === this.name);
        if (last !== undefined) last.toMs = performance.now();
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
  before(async function () {
    this.timeout(90_000);
    plane = await sharedControlPlane();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
    namespace = await makeNamespace(api);
  });
  after(async () => {
    for (const one of opened) await one.close();
    await api?.close();
  });

  async function stand(name: string, terms: Term[]): Promise<Candidate> {
    const way = await severableWay(plane);
    const ownApi = await openKubernetesApi({ kubeconfigPath: way.kubeconfigPath });
    const candidate = new Candidate(name, way, ownApi, namespace, terms);
    opened.push({
      close: async () => {
        await ownApi.close();
        await candidate.election.stop();
        await way.stop();
      },
    });
    return candidate;
  }

  it('never lead together, and the one that is cut off has stopped before the other begins', async function () {
    this.timeout((LOSSES + 1) * NEXT_WITHIN_MS);
    const terms: Term[] = [];
    const candidates = [await stand('a', terms), await stand('b', terms)];
    let together = 0;
    const looking = setInterval(() => {
      if (candidates.every(({ election }) => election.isLeader)) together += 1;
    }, 5);
    try {
      await eventually('a first leader', () => terms.length > 0);
      for (let n = 1; n <= LOSSES; n += 1) {
        const leader = candidates.find(({ name }) => name === terms.at(-1)?.candidate)!;
        leader.way.cut();
        const next = () => terms.at(-1)?.candidate !== leader.name;
        await eventually(`the leader after loss ${n}`, next, NEXT_WITHIN_MS);
        leader.way.mend();
      }
    } finally {
      clearInterval(looking);
    }
    assert.equal(together, 0);
    for (const [n, term] of terms.slice(1).entries()) {
      const before = terms[n]!;
      assert.ok(term.fromMs > before.toMs, `term ${n + 2} began ${before.toMs - term.fromMs} ms too soon`);
    }
    // The median: where the API server waits for a busy disk, a write may take it seconds.
    const gaps = terms.slice(1).map((term, n) => term.fromMs - terms[n]!.toMs);
    const median = gaps.toSorted((x, y) => x - y)[Math.floor(gaps.length / 2)]!;
    assert.ok(median < TIMING.leaseMs, `nobody led for ${gaps.join(', ')} ms`);
    const lease = await api.get(LEASES, { namespace, name: 'leader' });
    assert.ok(terms.length > LOSSES);
    assert.equal(lease?.spec?.leaseTransitions, terms.length - 1);
    // What the API server takes for a MicroTime; of any other form it says 400.
    assert.match(lease?.spec?.renewTime ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });
});
