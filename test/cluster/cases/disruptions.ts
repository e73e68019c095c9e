import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import {
  assertEachOnce,
  cancelAll,
  processing,
  SteadyLoad,
  submitSlow,
  withoutWaiting,
} from '../support/load.ts';
import { HUNG_MS, type Pod, type Release, type Tenant } from '../support/release.ts';

const AWAY_MS = 30_000;
/** Three minutes of work for one worker, replenished until the pool has grown; then the rest is cancelled. */
const LONG_BURST = 60;
/** Of which cases have more than one process meanwhile. */
const DOUBLED = ['api', 'controller'];

/** Kills, drains and outages: nothing is lost, and no result is rendered twice. */
export function describeDisruptions(release: () => Release): void {
  describe('in disruptions', () => {
    let client: Tenant;
    // Of its own for each case, which counts what it has completed.
    beforeEach(async () => {
      client = await release().openAccount('business');
    });
    afterEach(async function () {
      if (this.currentTest?.state === 'failed') await cancelAll(client);
      for (const role of DOUBLED) {
        await release().kubectl('scale', `deployment/platen-${role}`, '--replicas=1');
        await release().hasPods(role, 1, HUNG_MS);
      }
      await release().hasPods('worker', 1, HUNG_MS);
    });

    const grows = async () => {
      const started = performance.now();
      await eventually('more workers', async () => (await release().readyPods('worker')).length > 1, HUNG_MS);
      console.log(`      more workers after ${((performance.now() - started) / 1000).toFixed(1)} s`);
    };

    for (const [how, end] of [
      ['deleted', (pod: Pod) => release().kubectl('delete', 'pod', pod.metadata.name, '--wait=false')],
      ['killed', (pod: Pod) => release().killProcesses(pod)],
    ] as const) {
      it(`renders every submission once when a worker is ${how} in mid-render`, async () => {
        const submissions = await submitSlow(client, 2, 8000);
        const [worker] = await release().readyPods('worker');
        await eventually('renders under way', async () => (await processing(client)) === 2, HUNG_MS);
        await end(worker!);
        await assertEachOnce(client, submissions);
        const isNew = ({ metadata, status }: Pod) =>
          metadata.uid !== worker!.metadata.uid || restartsOf(status) > restartsOf(worker!.status);
        const replaced = async () => (await release().readyPods('worker')).some(isNew);
        await eventually('another worker in its place', replaced, HUNG_MS);
      });
    }

    it('replaces a killed leading controller, and scales as before', async () => {
      await release().kubectl('scale', 'deployment/platen-controller', '--replicas=2');
      await release().hasPods('controller', 2, HUNG_MS);
      const leader = await holderOf(release());
      const pod = (await release().pods('controller')).find(({ metadata }) =>
        leader.startsWith(metadata.name),
      );
      assert.ok(pod, `${leader} leads`);
      release().killProcesses(pod);
      const killed = performance.now();
      // A restarted container would go on with the Lease, which belongs to its pod.
      await release().kubectl('delete', 'pod', pod.metadata.name, '--force', '--grace-period=0');
      const submissions = await submitSlow(client, LONG_BURST, 6000);
      const isAnother = async () => !(await holderOf(release())).startsWith(`${pod.metadata.name}_`);
      await eventually('another leader', isAnother, HUNG_MS);
      console.log(`      another leader after ${((performance.now() - killed) / 1000).toFixed(1)} s`);
      await grows();
      await assertEachOnce(client, await withoutWaiting(client, submissions));
    });

    it('goes on rendering while the API server is away for 30 s, and scales again afterwards', async () => {
      const load = new SteadyLoad(await release().openAccount('business'), 2);
      const { plane } = release().cluster;
      let during = 0;
      try {
        await plane.haltApiServer();
        const before = load.completed;
        await sleep(AWAY_MS);
        during = load.completed - before;
      } finally {
        await plane.restartApiServer();
        await load.stop();
      }
      assert.deepEqual(load.failures, []);
      assert.ok(during > 0, 'no render while it was away');
      console.log(`      ${during} renders while it was away`);

      const submissions = await submitSlow(client, LONG_BURST, 6000);
      await grows();
      await assertEachOnce(client, await withoutWaiting(client, submissions));
    });

    it('loses nothing, and rejects no request, when a node is cordoned and drained under load', async () => {
      await release().kubectl('scale', 'deployment/platen-api', '--replicas=2');
      await release().hasPods('api', 2, HUNG_MS);
      const submissions = await submitSlow(client, 20, 5000);
      await grows();
      const load = new SteadyLoad(await release().openAccount('business'), 1);
      const { kubectl } = release().cluster.plane;
      try {
        await kubectl('drain', 'node-b', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=300s');
        const left = ['get', 'pods', '-n', 'platen', '--field-selector=spec.nodeName=node-b', '-o', 'name'];
        assert.equal((await kubectl(...left)).trim(), '');
      } finally {
        await kubectl('uncordon', 'node-b');
        await load.stop();
      }
      await assertEachOnce(client, submissions);
      assert.deepEqual(load.failures, []);
      assert.ok(load.completed > 0, 'no render meanwhile');
    });
  });
}

/** The leader: the name of its pod, and what distinguishes this start of it from others. */
async function holderOf({ cluster, target }: Release): Promise<string> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${target.namespace}/leases/platen-controller`;
  const { spec } = await cluster.plane.read<{ spec: { holderIdentity?: string } }>(path);
  return spec.holderIdentity ?? '';
}

function restartsOf({ containerStatuses = [] }: Pod['status']): number {
  return containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
}
