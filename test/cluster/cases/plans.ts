import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/send.ts';
import { assertEachOnce, processing, replenish, submitSlow } from '../support/load.ts';
import { HUNG_MS, QUICK_POOL, type Release } from '../support/release.ts';

const KIB = 1024;
const BUILT_IN_INPUT_BYTES = 10_240 * KIB;
/** The slots of the plan acme, the number of its submissions, and the nodes for them. */
const ACME_SLOTS = 3;
const ACME_SUBMISSIONS = 12;
const RENDER_MS = 3000;
const ACME_NODE = 'node-b';

/** RenderPlans are the plans. */
export function describePlans(release: () => Release): void {
  describe('its plans', () => {
    it('are in force in every API process soon after kubectl has edited them', async () => {
      await release().kubectl('scale', 'deployment/platen-api', '--replicas=2');
      await release().hasPods('api', 2, HUNG_MS);
      const client = await release().openAccount('business');
      const urls = (await release().readyPods('api')).map(({ status }) => `http://${status.podIP}:8080`);
      // Rejected for its form if not for its size: nothing is rendered either way.
      const body = JSON.stringify({ html: 'x'.repeat(100 * KIB), unknown: 1 });
      const headers = { 'x-api-key': client.key, 'content-type': 'application/json' };
      const statuses = async () => {
        const responses = await Promise.all(urls.map((url) => send(url, 'POST', '/v1/pdf', body, headers)));
        return responses.map(({ status }) => status);
      };

      assert.deepEqual(await statuses(), [400, 400]);
      for (const [bytes, expected] of [
        [50 * KIB, 413],
        [200 * KIB, 400],
      ] as const) {
        await edit(release(), 'business', { maxInputSizeBytes: bytes });
        const edited = performance.now();
        const changed = async () => (await statuses()).every((status) => status === expected);
        await eventually(`${expected} from every API process`, changed, HUNG_MS);
        console.log(`      in force after ${Math.round(performance.now() - edited)} ms`);
      }
      await edit(release(), 'business', { maxInputSizeBytes: BUILT_IN_INPUT_BYTES });
      await release().kubectl('scale', 'deployment/platen-api', '--replicas=1');
      await release().hasPods('api', 1, HUNG_MS);
    });

    it('are rejected by the API server, with the field, when they are invalid', async () => {
      await assert.rejects(edit(release(), 'business', { concurrentRenders: 0 }), /concurrentRenders/);
    });

    it('may name a pool on separate nodes: their jobs run there alone, from no worker to their concurrency and back', async () => {
      await release().kubectl('label', 'node', ACME_NODE, 'customer=acme');
      const pool = { ...QUICK_POOL, minReplicas: 0, maxReplicas: 10, slotsPerWorker: 1 };
      await release().apply(resource('RenderPool', 'acme', { ...pool, nodeSelector: { customer: 'acme' } }));
      const plan = { concurrentRenders: ACME_SLOTS, poolRef: 'acme', maxWaitingJobs: 50 };
      await release().apply(resource('RenderPlan', 'acme', plan));
      const ofPool = ',platen.dev/pool=acme';
      await eventually(
        'an accepted plan',
        async () => (await release().kubectl('get', 'renderplan', 'acme', '--no-headers')).includes('Ready'),
        HUNG_MS,
      );
      const client = await release().openAccount('acme');
      assert.deepEqual(await release().pods('worker', ofPool), []);
      const others = await release().readyPods('worker', ',platen.dev/pool=default');
      const printedElsewhere = () => release().metric('platen_pages_total', others);
      const before = await printedElsewhere();

      const ordered = performance.now();
      const submissions = await submitSlow(client, ACME_SUBMISSIONS, RENDER_MS);
      let most = 0;
      const nodes = new Set<string | undefined>();
      const check = async () => {
        await replenish(client, submissions, ACME_SLOTS, RENDER_MS);
        most = Math.max(most, await processing(client));
        for (const { spec } of await release().pods('worker', ofPool)) nodes.add(spec.nodeName);
      };
      await eventually(
        `a ready worker of its own for each slot of the plan`,
        async () => {
          await check();
          // The square root of the demand adds a free one.
          return (await release().readyPods('worker', ofPool)).length >= ACME_SLOTS;
        },
        HUNG_MS,
      );
      console.log(
        `      from no worker to the plan's concurrency in ${Math.round(performance.now() - ordered)} ms`,
      );
      await eventually(
        'as many renders at a time as the plan allows',
        async () => {
          await check();
          return most >= ACME_SLOTS;
        },
        HUNG_MS,
      );
      await assertEachOnce(client, submissions);
      for (const { spec } of await release().pods('worker', ofPool)) nodes.add(spec.nodeName);
      // Before a worker has its node it has none.
      nodes.delete(undefined);
      assert.deepEqual([most, [...nodes]], [ACME_SLOTS, [ACME_NODE]]);
      assert.equal(await printedElsewhere(), before, 'rendered elsewhere');
      await release().hasPods('worker', 0, HUNG_MS, ofPool);
    });
  });
}

function resource(kind: string, name: string, spec: object) {
  return { apiVersion: 'platen.dev/v1alpha1', kind, metadata: { name }, spec };
}

/** As `kubectl edit` does, without the editor. */
function edit(release: Release, plan: string, spec: object): Promise<string> {
  return release.kubectl('patch', 'renderplan', plan, '--type=merge', '--patch', JSON.stringify({ spec }));
}
