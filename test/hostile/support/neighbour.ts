import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../../support/client.ts';
import { HUNG_MS } from '../../support/eventually.ts';

/** The pause between two renders of the neighbour, and between two health checks, in milliseconds. */
const PAUSE_MS = 100;

const ROWS = Array.from({ length: 30 }, (_, i) => `<tr><td>Item ${i}<td>${i * 7}.00<td>${i * 7 * 3}.00`);
const DOCUMENT = `<title>Invoice</title><style>td { border: 1px solid; padding: 4px }</style><h1>Invoice</h1>
  <table>${ROWS.join('')}</table><script>document.title += ' of the neighbour'</script>`;

/** The neighbour's measurements during an attack so far, in milliseconds. */
export interface Experience {
  /** How long each of its renders took. */
  readonly renders: readonly number[];
  /** How long each health check took. */
  readonly health: readonly number[];
}

export interface NeighbourSettings {
  /** The least number of renders. Default 3. */
  readonly atLeast?: number;
  /** Options of each render. */
  readonly options?: Record<string, unknown>;
}

/**
 * A tenant that renders one document after the other, and checks the health of the service, while `work` runs. Fails when one
 * of its renders fails or is retried, and when the service is not healthy.
 *
 * @param work gets the neighbour's measurements so far.
 */
export async function neighbourDuring(
  client: TestClient,
  work: (experience: Experience) => Promise<unknown>,
  { atLeast = 3, options }: NeighbourSettings = {},
): Promise<Experience> {
  let over = false;
  const experience = { renders: [] as number[], health: [] as number[] };
  const working = work(experience).finally(() => {
    over = true;
  });
  const rendering = (async () => {
    while (!over || experience.renders.length < atLeast) {
      experience.renders.push(await timed(() => renderOnce(client, options)));
      await sleep(PAUSE_MS);
    }
  })();
  const asking = (async () => {
    while (!over) {
      experience.health.push(await timed(() => askHealth(client)));
      await sleep(PAUSE_MS);
    }
  })();
  await Promise.all([rendering, asking, working]);
  return experience;
}

/** A render of the neighbour's, which must succeed at its first attempt. */
export async function renderOnce(client: TestClient, options?: Record<string, unknown>): Promise<void> {
  const response = await client.render({
    html: DOCUMENT,
    executionMode: 'sync',
    ...(options && { options }),
  });
  const said = Buffer.from(response.bytes).toString('latin1').slice(0, 300);
  // On a busy machine the caller may get a Retry-After.
  assert.ok(
    [200, 202].includes(response.status),
    `a render of the neighbour was answered ${response.status}: ${said}`,
  );
  const jobId = response.status === 200 ? response.headers.get('x-service-job-id')! : response.json.jobId;
  const { status, attemptCount } = await client.end(jobId, HUNG_MS);
  assert.deepEqual([status, attemptCount], ['completed', 1], 'of a render of the neighbour');
}

async function askHealth(client: TestClient): Promise<void> {
  const response = await fetch(new URL('/healthz', client.url), { signal: AbortSignal.timeout(HUNG_MS) });
  await response.arrayBuffer();
  assert.equal(response.status, 200);
}

/** @returns milliseconds. */
async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
