import assert from 'node:assert/strict';
import { HUNG_MS } from './eventually.ts';
import { type Reply, send } from './send.ts';

/** A caller with one API key, over real HTTP. */
export class TestClient {
  readonly url: string;
  readonly key: string;
  readonly #hungMs: number;

  /** @param hungMs the longest wait for a response, in milliseconds. */
  constructor(url: string, key: string, hungMs = HUNG_MS) {
    this.url = url;
    this.key = key;
    this.#hungMs = hungMs;
  }

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return send(this.url, method, path, body, { 'x-api-key': this.key, ...headers }, this.#hungMs);
  }

  render(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply> {
    return this.call('POST', '/v1/pdf', body, headers);
  }

  /**
   * Renders, and follows the job where the response does not wait for it: a busy machine is late, or loses the first attempt.
   *
   * @returns the PDF, or the response that says why there is none.
   */
  async renderToEnd(body: Record<string, unknown>): Promise<Reply> {
    const reply = await this.render(body);
    if (reply.status !== 202) return reply;
    const { jobId } = await this.end(reply.json.jobId);
    return this.call('GET', `/v1/pdf/jobs/${jobId}/file`);
  }

  /** Submits a job in the background. @returns its id. */
  async submit(body: Record<string, unknown>): Promise<string> {
    const response = await this.render({ executionMode: 'async', ...body });
    assert.equal(response.status, 202, Buffer.from(response.bytes).toString().slice(0, 300));
    return response.json.jobId;
  }

  /** The job's record once it has ended. */
  async end(jobId: string, withinMs = HUNG_MS) {
    const deadline = Date.now() + withinMs;
    // Less and less often: a free account may poll a hundred times a minute.
    for (let pauseMs = 50; ; pauseMs = Math.min(1000, pauseMs * 1.15)) {
      const response = await this.call('GET', `/v1/pdf/jobs/${jobId}`);
      assert.equal(response.status, 200, `job ${jobId}: ${response.status}`);
      if (['completed', 'failed', 'cancelled'].includes(response.json.status)) return response.json;
      assert.ok(Date.now() < deadline, `job ${jobId} is still ${JSON.stringify(response.json)}`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
