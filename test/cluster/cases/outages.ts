import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { assertEachOnce, cancelAll } from '../support/load.ts';
import type { Release, Tenant } from '../support/release.ts';

const AWAY_MS = 60_000;
const CHECK_EVERY_MS = 1000;
/** Only means that it hangs. */
const LIMIT_MS = 90_000;
const ROLES = ['api', 'dispatcher', 'worker'];

/** The part of an EndpointSlice with the endpoints of a Service. */
interface EndpointSlices {
  readonly items: readonly {
    readonly endpoints?: readonly { readonly conditions: { readonly ready?: boolean } }[];
  }[];
}

/** What the pods depend on is away for a while. */
export function describeOutages(release: () => Release): void {
  describe('during an outage of a dependency', () => {
    let client: Tenant;
    // Of its own for each case, which counts what it has completed.
    beforeEach(async () => {
      client = await release().openAccount('business');
    });
    afterEach(async function () {
      if (this.currentTest?.state === 'failed') await cancelAll(client);
      await release().hasPods('worker', 1, 120_000);
    });

    it('keeps its endpoints and takes submissions while Kafka is stopped for 60 s, and renders each once afterwards', async () => {
      const first = await client.submit({ html: '<h1>before</h1>' });
      assert.equal((await client.end(first)).status, 'completed');
      const before = await podsOf(release());
      const apis = await endpointsOf(release());
      assert.ok(apis > 0);
      const submissions = new Map<string, string>();
      const send = async (executionMode: string) => {
        const word = `outage-${submissions.size}-${executionMode}`;
        const response = await client.render({ html: `<h1>${word}</h1>`, executionMode });
        assert.equal(response.status, 202, word);
        submissions.set(response.json.jobId, word);
      };
      /** Earlier pods that were not ready at some check, or had been restarted. */
      const lost = new Set<string>();
      const { kafka } = release().peers;
      await kafka.halt();
      try {
        const back = performance.now() + AWAY_MS;
        const connected = async () => release().metric('platen_bus_connected', await release().pods('api'));
        await eventually('the API is without Kafka', async () => (await connected()) === 0, LIMIT_MS);
        const waited = send('sync');
        while (performance.now() < back) {
          await send('async');
          assert.equal(await endpointsOf(release()), apis);
          const now = await podsOf(release());
          for (const pod of before) if (!now.includes(pod)) lost.add(pod);
          // What was rendered before is served.
          assert.equal((await client.call('GET', `/v1/pdf/jobs/${first}/file`)).status, 200);
          await sleep(CHECK_EVERY_MS);
        }
        await waited;
      } finally {
        await kafka.restart();
      }
      assert.deepEqual([...lost], []);
      await assertEachOnce(client, submissions, 1);
    });
  });
}

/** The ready pods of all roles that the bus joins, each with how often it was started again. */
async function podsOf(release: Release): Promise<string[]> {
  const ofRole = async (role: string) =>
    (await release.readyPods(role)).map(
      ({ metadata, status }) => `${role} ${metadata.uid} ${status.containerStatuses?.[0]?.restartCount}`,
    );
  return (await Promise.all(ROLES.map(ofRole))).flat().sort();
}

/** How many pods the Service leads to. */
async function endpointsOf(release: Release): Promise<number> {
  const { items } = await release.get<EndpointSlices>(
    'endpointslices',
    '--selector=kubernetes.io/service-name=platen',
  );
  const ready = items.flatMap(({ endpoints = [] }) => endpoints).filter(({ conditions }) => conditions.ready);
  return ready.length;
}
