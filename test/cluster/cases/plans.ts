import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/send.ts';
import { QUICK_POOL, type Release } from '../support/release.ts';

const EDIT_LIMIT_MS = 2000;
const KIB = 1024;
const BUILT_IN_INPUT_BYTES = 10_240 * KIB;

/** RenderPlans are the plans. */
export function describePlans(release: () => Release): void {
  describe('its plans', () => {
    it('are in force in every API process two seconds after kubectl has edited them', async () => {
      await release().kubectl('scale', 'deployment/platen-api', '--replicas=2');
      await release().hasPods('api', 2, 60_000);
      const client = await release().openAccount('business');
      const urls = (await release().readyPods('api')).map(({ status }) => `http://${status.podIP}:8080`);
      // Refused for its form when it is not refused for its size: nothing comes of it either way.
      const body = JSON.stringify({ html: 'x'.repeat(100 * KIB), unknown: 1 });
      const headers = { 'x-api-key': client.key, 'content-type': 'application/json' };
      const statuses = async () => {
        const answers = await Promise.all(urls.map((url) => send(url, 'POST', '/v1/pdf', body, headers)));
        return answers.map(({ status }) => status);
      };

      assert.deepEqual(await statuses(), [400, 400]);
      for (const [bytes, expected] of [
        [50 * KIB, 413],
        [200 * KIB, 400],
      ] as const) {
        await edit(release(), 'business', { maxInputSizeBytes: bytes });
        const edited = performance.now();
        const changed = async () => (await statuses()).every((status) => status === expected);
        await eventually(`${expected} from every API process`, changed, EDIT_LIMIT_MS);
        console.log(`      in force after ${Math.round(performance.now() - edited)} ms`);
      }
      await edit(release(), 'business', { maxInputSizeBytes: BUILT_IN_INPUT_BYTES });
      await release().kubectl('scale', 'deployment/platen-api', '--replicas=1');
      await release().hasPods('api', 1, 90_000);
    });

    it('are refused by the API server, with the field, when they cannot be', async () => {
      await assert.rejects(edit(release(), 'business', { concurrentRenders: 0 }), /concurrentRenders/);
    });

    it('may name a pool of their own: their work runs there, from no worker at all and back to none', async () => {
      const pool = { ...QUICK_POOL, minReplicas: 0, maxReplicas: 2, slotsPerWorker: 1 };
      await release().apply(resource('RenderPool', 'acme', pool));
      await release().apply(
        resource('RenderPlan', 'acme', { concurrentRenders: 2, poolRef: 'acme', maxWaitingJobs: 50 }),
      );
      const ofPool = ',platen.dev/pool=acme';
      await eventually(
        'an accepted plan',
        async () => (await release().kubectl('get', 'renderplan', 'acme', '--no-headers')).includes('True'),
        30_000,
      );
      const client = await release().openAccount('acme');
      assert.deepEqual(await release().pods('worker', ofPool), []);

      const ordered = performance.now();
      const id = await client.order({ html: '<p>ours</p>', options: { delayMs: 1000 } });
      assert.equal((await client.end(id, 90_000)).status, 'completed');
      console.log(`      rendered from no worker after ${Math.round(performance.now() - ordered)} ms`);
      assert.ok((await release().pods('worker', ofPool)).length > 0, 'rendered elsewhere');
      await release().hasPods('worker', 0, 120_000, ofPool);
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
