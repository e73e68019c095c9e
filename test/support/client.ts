import assert from 'node:assert/strict';
import { type Answer, HUNG_MS, send } from './send.ts';

/** A caller with one API key, over real HTTP. */
export class TestClient {
  readonly url: string;
  readonly key: string;
  readonly #hungMs: number;

  /** @param hungMs after which an answer is not waited for any more, in milliseconds. */
  constructor(url: string, key: string, hungMs = HUNG_MS) {
    this.url = url;
    this.key = key;
    this.#hungMs = hungMs;
  }

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return send(this.url, method, path, body, { 'x-api-key': this.key, ...headers }, this.#hungMs);
  }

  render(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer> {
    return this.call('POST', '/v1/pdf', body, headers);
  }

  /** Orders a job in the background. @returns its id. */
  async order(body: Record<string, unknown>): Promise<string> {
    const answer = await this.render({ executionMode: 'async', ...body });
    assert.equal(answer.status, 202, Buffer.from(answer.bytes).toString().slice(0, 300));
    return answer.json.jobId;
  }

  /** The job's record once it has ended. */
  async end(jobId: string, withinMs = 60_000) {
    const deadline = Date.now() + withinMs;
    // Less and less often: a free account may look a hundred times a minute.
    for (let pauseMs = 50; ; pauseMs = Math.min(1000, pauseMs * 1.15)) {
      const answer = await this.call('GET', `/v1/pdf/jobs/${jobId}`);
      assert.equal(answer.status, 200, `job ${jobId}: ${answer.status}`);
      if (['completed', 'failed', 'cancelled'].includes(answer.json.status)) return answer.json;
      assert.ok(Date.now() < deadline, `job ${jobId} is still ${JSON.stringify(answer.json)}`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
