import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../../support/client.ts';

/** Between two renders of the neighbour's, and between two questions about health. Milliseconds. */
const PAUSE_MS = 25;
/** What one render in twenty takes longer on a machine that others use, without any attack. Milliseconds. */
const LEAST_P95_MS = 300;
const MAX_SLOWER = 3;
const MAX_HEALTH_MS = 1000;
/** After so long the kubelet takes a process for stuck: see livenessProbe in the chart. */
const STUCK_MS = 5000;

const ROWS = Array.from({ length: 30 }, (_, i) => `<tr><td>Item ${i}<td>${i * 7}.00<td>${i * 7 * 3}.00`);
const DOCUMENT = `<title>Invoice</title><style>td { border: 1px solid; padding: 4px }</style><h1>Invoice</h1>
  <table>${ROWS.join('')}</table><script>document.title += ' of the neighbour'</script>`;

/** What the neighbour has met with while somebody else did something. */
export interface Experience {
  /** How long each of its renders took, in milliseconds. */
  readonly renders: readonly number[];
  readonly p95: number;
  /** The longest that it waited for an answer about health, in milliseconds. */
  readonly health: number;
}

/**
 * A tenant that renders one document after the other, and asks how the service is, while `work` goes on.
 *
 * @param settings how many renders it does at least, and the options of each.
 */
export async function neighbourDuring(
  client: TestClient,
  work: Promise<unknown>,
  { atLeast = 25, options }: { atLeast?: number; options?: Record<string, unknown> } = {},
): Promise<Experience> {
  let over = false;
  const end = work.then(
    () => undefined,
    () => undefined,
  );
  void end.then(() => {
    over = true;
  });
  const renders: number[] = [];
  let health = 0;
  const rendering = (async () => {
    while (!over || renders.length < atLeast) {
      renders.push(await renderOnce(client, options));
      await sleep(PAUSE_MS);
    }
  })();
  const asking = (async () => {
    while (!over) {
      const took = await askHealth(client);
      assert.ok(took < STUCK_MS, `/healthz took ${Math.round(took)} ms`);
      health = Math.max(health, took);
      await sleep(PAUSE_MS);
    }
  })();
  await Promise.all([rendering, asking, work]);
  return { renders, p95: percentile(renders, 0.95), health };
}

/** Whether the neighbour was not three times slower than it is by itself, and was told all the while how the service is. */
export function isUnharmed(during: Experience, alone: Experience): boolean {
  return during.p95 < MAX_SLOWER * Math.max(alone.p95, LEAST_P95_MS) && during.health < MAX_HEALTH_MS;
}

export function assertUnharmed(during: Experience, alone: Experience): void {
  const [p95, before, health] = [during.p95, alone.p95, during.health].map(Math.round);
  assert.ok(
    isUnharmed(during, alone),
    `95 of 100 renders of the neighbour took up to ${p95} ms, and ${before} ms alone; /healthz up to ${health} ms`,
  );
}

/** @returns milliseconds. */
async function renderOnce(client: TestClient, options: Record<string, unknown> | undefined): Promise<number> {
  const started = performance.now();
  const answer = await client.render({ html: DOCUMENT, ...(options && { options }) });
  const took = performance.now() - started;
  const said = Buffer.from(answer.bytes).toString('latin1').slice(0, 300);
  assert.equal(answer.status, 200, `a render of the neighbour was answered ${answer.status}: ${said}`);
  const jobId = answer.headers.get('x-service-job-id');
  const record = (await client.call('GET', `/v1/pdf/jobs/${jobId}`)).json;
  assert.equal(record.attemptCount, 1, 'a render of the neighbour was repeated');
  return took;
}

/** @returns milliseconds. */
async function askHealth(client: TestClient): Promise<number> {
  const started = performance.now();
  const answer = await fetch(new URL('/healthz', client.url), { signal: AbortSignal.timeout(10_000) });
  await answer.arrayBuffer();
  assert.equal(answer.status, 200);
  return performance.now() - started;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
}
