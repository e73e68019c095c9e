import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../../support/client.ts';

/** Between two renders of the neighbour's, and between two questions about health. Milliseconds. */
const PAUSE_MS = 25;
/** After so long what has not answered hangs. Milliseconds. */
const HUNG_MS = 60_000;

const ROWS = Array.from({ length: 30 }, (_, i) => `<tr><td>Item ${i}<td>${i * 7}.00<td>${i * 7 * 3}.00`);
const DOCUMENT = `<title>Invoice</title><style>td { border: 1px solid; padding: 4px }</style><h1>Invoice</h1>
  <table>${ROWS.join('')}</table><script>document.title += ' of the neighbour'</script>`;

/** What the neighbour has met with so far, while somebody else did something: milliseconds. */
export interface Experience {
  /** How long each of its renders took. */
  readonly renders: readonly number[];
  /** How long it waited for each answer about health. */
  readonly health: readonly number[];
}

export interface NeighbourSettings {
  /** How many renders it does at least; default 3. */
  readonly atLeast?: number;
  /** Of each render. */
  readonly options?: Record<string, unknown>;
}

/**
 * A tenant that renders one document after the other, and asks how the service is, while `work` goes on. Fails when one of
 * its renders fails or is repeated, and when the service does not say that it is well.
 *
 * @param work is told what the neighbour has met with so far.
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
  const answer = await client.render({
    html: DOCUMENT,
    executionMode: 'sync',
    ...(options && { options }),
  });
  const said = Buffer.from(answer.bytes).toString('latin1').slice(0, 300);
  // On a machine that is busy with something else its caller may be told to come back.
  assert.ok(
    [200, 202].includes(answer.status),
    `a render of the neighbour was answered ${answer.status}: ${said}`,
  );
  const jobId = answer.status === 200 ? answer.headers.get('x-service-job-id')! : answer.json.jobId;
  const { status, attemptCount } = await client.end(jobId, HUNG_MS);
  assert.deepEqual([status, attemptCount], ['completed', 1], 'of a render of the neighbour');
}

async function askHealth(client: TestClient): Promise<void> {
  const answer = await fetch(new URL('/healthz', client.url), { signal: AbortSignal.timeout(HUNG_MS) });
  await answer.arrayBuffer();
  assert.equal(answer.status, 200);
}

/** @returns milliseconds. */
async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
