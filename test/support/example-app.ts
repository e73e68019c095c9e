import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { signatures } from '../../src/work/callbacks/signature.ts';
import { HUNG_MS } from './eventually.ts';
import { readPdf } from './pdf.ts';
import type { Tenant, TestService } from './service.ts';

/** What an example takes from its environment. */
export interface ExampleEnvironment {
  readonly PLATEN_URL: string;
  readonly PLATEN_API_KEY: string;
  readonly PLATEN_WEBHOOK_SECRET: string;
}

export function exampleEnvironment(
  service: TestService,
  { client }: Tenant,
  key = client.key,
): ExampleEnvironment {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  return { PLATEN_URL: service.url, PLATEN_API_KEY: key, PLATEN_WEBHOOK_SECRET: secret };
}

/**
 * Holds an example against what it promises: a PDF as the response, a PDF in the background, and callbacks that are taken
 * when they are signed.
 *
 * @param send sends a request to the example, by its path.
 */
export async function checkExample(
  send: (path: string, init?: RequestInit) => Promise<Response>,
  { PLATEN_WEBHOOK_SECRET: secret }: ExampleEnvironment,
  { client }: Tenant,
): Promise<void> {
  const pdf = await send('/invoices/66');
  assert.equal(pdf.status, 200, await pdf.clone().text());
  assert.match(pdf.headers.get('content-type') ?? '', /^application\/pdf/);
  assert.match((await readPdf(new Uint8Array(await pdf.arrayBuffer()))).text, /Invoice 66/);

  const accepted = await send('/invoices/67', { method: 'POST' });
  assert.equal(accepted.status, 202, await accepted.clone().text());
  const { jobId } = (await accepted.json()) as { jobId: string };
  const job = () => client.call('GET', `/v1/pdf/jobs/${jobId}`);
  while (['queued', 'processing'].includes((await job()).json.status)) await sleep(100);
  assert.equal((await job()).json.status, 'completed');

  const body = JSON.stringify({ event: 'render.completed', jobId, status: 'completed', statusUrl: 'x' });
  const timestamp = Math.floor(Date.now() / 1000);
  const callback = (text: string) =>
    send('/callbacks', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-delivery-id': 'd-1',
        'x-service-timestamp': String(timestamp),
        'x-service-signature-v2': signatures([secret], { deliveryId: 'd-1', timestamp, body }),
      },
      body: text,
    });
  assert.equal((await callback(body)).status, 204);
  assert.equal((await callback(`${body} `)).status, 400, 'what was changed is not taken');
}

/** What the service refuses becomes a response that says so, without the service's own words. */
export async function checkRejected(send: (path: string) => Promise<Response>): Promise<void> {
  const refused = await send('/invoices/66');
  assert.equal(refused.status, 502);
  assert.deepEqual(await refused.json(), { error: 'The PDF could not be made.', code: 'UNAUTHENTICATED' });
}

/** A program that listens on a port. */
export class ExampleApp {
  readonly #child: ChildProcess;
  readonly #url: string;
  #said = '';

  constructor(command: readonly [string, ...string[]], cwd: string, env: NodeJS.ProcessEnv, port: number) {
    const [program, ...args] = command;
    this.#url = `http://127.0.0.1:${port}`;
    this.#child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (data: Buffer) => {
        this.#said += data.toString();
      });
  }

  readonly send = (path: string, init?: RequestInit): Promise<Response> => fetch(this.#url + path, init);

  /** @throws when it has ended instead, with what it has said. */
  async ready(): Promise<void> {
    for (const end = Date.now() + HUNG_MS; Date.now() < end; await sleep(100)) {
      if (this.#child.exitCode !== null) throw new Error(`It has ended: ${this.#said}`);
      if (
        await this.send('/').then(
          () => true,
          () => false,
        )
      )
        return;
    }
    throw new Error(`It does not listen: ${this.#said}`);
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.kill()) await ended;
  }
}
