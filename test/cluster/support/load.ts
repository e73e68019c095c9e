import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import { HUNG_MS, type Tenant } from './release.ts';

/** Orders documents that take a while each, and says which. */
export async function orderSlow(
  client: TestClient,
  count: number,
  delayMs: number,
): Promise<Map<string, string>> {
  const orders = new Map<string, string>();
  for (let i = 0; i < count; i += 1) {
    const word = `order-${client.key.slice(-4)}-${i}`;
    orders.set(await client.order({ html: `<h1>${word}</h1>`, options: { delayMs } }), word);
  }
  return orders;
}

/**
 * Waits for orders to end, and holds against them that each has come out once and whole: it is completed, its PDF says what
 * was ordered, and the account's usage counts each once.
 *
 * @param already what the account had completed before.
 */
export async function assertEachOnce(
  client: Tenant,
  orders: ReadonlyMap<string, string>,
  already = 0,
): Promise<void> {
  for (const [id, word] of orders) {
    const job = await client.end(id, HUNG_MS);
    assert.equal(job.status, 'completed', `${word}: ${JSON.stringify(job.error)}`);
    assert.equal(await textOf(client, id), word);
  }
  // An outcome is counted a moment after it can be seen.
  const expected = already + orders.size;
  await eventually('usage that counts them all', async () => (await client.completed()) >= expected, HUNG_MS);
  assert.equal(await client.completed(), expected);
}

/** Cancels those orders that wait still. @returns the others. */
export async function withoutWaiting(
  client: TestClient,
  orders: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const { json } = await client.call('GET', '/v1/pdf/jobs?status=queued&limit=100');
  const others = new Map(orders);
  for (const { jobId } of json.jobs) {
    await client.call('DELETE', `/v1/pdf/jobs/${jobId}`);
    // Its turn may have come meanwhile.
    if ((await client.end(jobId, HUNG_MS)).status === 'cancelled') others.delete(jobId);
  }
  return others;
}

/** Cancels what the account has left, so that nobody who comes later waits for it. */
export async function cancelAll(client: TestClient): Promise<void> {
  for (const status of ['queued', 'processing']) {
    const { json } = await client.call('GET', `/v1/pdf/jobs?status=${status}&limit=100`);
    for (const { jobId } of json.jobs) await client.call('DELETE', `/v1/pdf/jobs/${jobId}`);
  }
}

/** How many of the account's jobs are being rendered. */
export async function processing(client: TestClient): Promise<number> {
  const { status, json } = await client.call('GET', '/v1/pdf/jobs?status=processing&limit=100');
  assert.equal(status, 200, JSON.stringify(json));
  return json.jobs.length;
}

async function textOf(client: TestClient, jobId: string): Promise<string> {
  const file = await client.call('GET', `/v1/pdf/jobs/${jobId}/file`);
  assert.equal(file.status, 200);
  return (await readPdf(file.bytes)).text.trim();
}

/** Callers that render one document after another, each waiting for its answer, until told to stop. */
export class SteadyLoad {
  readonly client: TestClient;
  /** Of every answer that was no PDF, and of every request that had none: what it was. */
  readonly failures: string[] = [];
  completed = 0;
  /** Of those that were answered by 202 first: after how many milliseconds. */
  readonly late: number[] = [];
  #stopped = false;
  readonly #callers: Promise<void>[];

  constructor(client: TestClient, callers: number, pauseMs = 100) {
    this.client = client;
    this.#callers = Array.from({ length: callers }, async (_, index) => {
      while (!this.#stopped) {
        await this.#renderOnce(`load-${index}-${this.completed}`);
        await sleep(pauseMs);
      }
    });
  }

  async #renderOnce(word: string): Promise<void> {
    const begun = Date.now();
    try {
      const answer = await this.client.render({ html: `<h1>${word}</h1>` });
      if (answer.status === 202) {
        const waitedMs = Date.now() - begun;
        // What takes longer than the API waits goes on as a job, and has to come out all the same.
        const { jobId } = answer.json;
        assert.equal((await this.client.end(jobId, HUNG_MS)).status, 'completed', word);
        assert.equal(await textOf(this.client, jobId), word);
        this.late.push(waitedMs);
        this.completed += 1;
        return;
      }
      if (answer.status === 200 && (await readPdf(answer.bytes)).text.trim() === word) this.completed += 1;
      else this.failures.push(`${answer.status} ${Buffer.from(answer.bytes).toString().slice(0, 200)}`);
    } catch (error) {
      const { message, cause } = error as Error;
      this.failures.push(`${message} ${String(cause ?? '')}`);
    }
  }

  /** Resolves when every caller has had its last answer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#callers);
  }
}
