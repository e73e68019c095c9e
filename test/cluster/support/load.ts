import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import { HUNG_MS, type Tenant } from './release.ts';

/** Submits documents that take a while each, and returns them by job. */
export async function submitSlow(
  client: TestClient,
  count: number,
  delayMs: number,
): Promise<Map<string, string>> {
  const submissions = new Map<string, string>();
  for (let i = 0; i < count; i += 1) {
    const word = `order-${client.key.slice(-4)}-${i}`;
    submissions.set(await client.submit({ html: `<h1>${word}</h1>`, options: { delayMs } }), word);
  }
  return submissions;
}

/**
 * Submits more when few are left: how long a pool takes to grow depends on the machine.
 *
 * @param submissions the account's submissions, which had completed nothing before; the new ones are added.
 */
export async function replenish(
  client: Tenant,
  submissions: Map<string, string>,
  slots: number,
  delayMs: number,
): Promise<void> {
  if (submissions.size - (await client.completed()) > 2 * slots) return;
  for (const [id, word] of await submitSlow(client, 2 * slots, delayMs)) submissions.set(id, word);
}

/**
 * Waits for submissions to end, and checks that each was rendered once and completely: it is completed, its PDF has the
 * submitted text, and the account's usage counts each once.
 *
 * @param already what the account had completed before.
 */
export async function assertEachOnce(
  client: Tenant,
  submissions: ReadonlyMap<string, string>,
  already = 0,
): Promise<void> {
  for (const [id, word] of submissions) {
    const job = await client.end(id, HUNG_MS);
    assert.equal(job.status, 'completed', `${word}: ${JSON.stringify(job.error)}`);
    assert.equal(await textOf(client, id), word);
  }
  // An outcome is counted a moment after it can be seen.
  const expected = already + submissions.size;
  await eventually('usage that counts them all', async () => (await client.completed()) >= expected, HUNG_MS);
  assert.equal(await client.completed(), expected);
}

/** Cancels the submissions that still wait. @returns the others. */
export async function withoutWaiting(
  client: TestClient,
  submissions: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const { json } = await client.call('GET', '/v1/pdf/jobs?status=queued&limit=100');
  const others = new Map(submissions);
  for (const { jobId } of json.jobs) {
    await client.call('DELETE', `/v1/pdf/jobs/${jobId}`);
    // It may have been dispatched meanwhile.
    if ((await client.end(jobId, HUNG_MS)).status === 'cancelled') others.delete(jobId);
  }
  return others;
}

/** Cancels the account's remaining jobs, so that later tests do not wait for them. */
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

/** Callers that render one document after another, each waiting for its response, until stopped. */
export class SteadyLoad {
  readonly client: TestClient;
  /** Responses other than PDFs, and requests without a response. */
  readonly failures: string[] = [];
  completed = 0;
  /** For submissions that first got 202: after how many milliseconds they were done. */
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
      const response = await this.client.render({ html: `<h1>${word}</h1>` });
      if (response.status === 202) {
        const waitedMs = Date.now() - begun;
        // A render that takes longer than the API waits continues as a job, and has to complete all the same.
        const { jobId } = response.json;
        assert.equal((await this.client.end(jobId, HUNG_MS)).status, 'completed', word);
        assert.equal(await textOf(this.client, jobId), word);
        this.late.push(waitedMs);
        this.completed += 1;
        return;
      }
      if (response.status === 200 && (await readPdf(response.bytes)).text.trim() === word)
        this.completed += 1;
      else this.failures.push(`${response.status} ${Buffer.from(response.bytes).toString().slice(0, 200)}`);
    } catch (error) {
      const { message, cause } = error as Error;
      this.failures.push(`${message} ${String(cause ?? '')}`);
    }
  }

  /** Resolves when every caller has its last response. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#callers);
  }
}
