import { setTimeout as pause } from 'node:timers/promises';
import { killProcess } from '../../../src/render/chromium/process/processes.ts';
import { freePort } from '../../support/ports.ts';
import { descendants } from '../../support/processes.ts';
import type { Tenant, TestService } from '../../support/service.ts';
import { serveWebPages } from '../../support/web-pages.ts';

const SHORT = { html: '<h1>Invoice</h1><p>Thank you.</p>', options: { delayMs: 100 } };
const LONG = { html: '<h1>Report</h1>', options: { delayMs: 1500 } };

/**
 * A little of everything that a service lives through: callers that wait and jobs in the background, an account at the
 * limit of its plan, documents with faults of their own, a job that is cancelled, a browser and a worker that are killed.
 *
 * @param service over Kafka, with the roles api, worker-1 and worker-2.
 * @param rounds of ordinary work, some seconds each.
 * @returns when every job has ended.
 */
export async function runLoad(service: TestService, rounds: number): Promise<void> {
  const pages = await serveWebPages({ '/page': '<h1>A page</h1>' });
  const [free, professional, business] = await Promise.all([
    service.newTenant('free'),
    service.newTenant('professional'),
    service.newTenant('business'),
  ]);
  try {
    const jobs: [Tenant, string][] = [];
    const submit = async (tenant: Tenant, body: Record<string, unknown>) => {
      jobs.push([tenant, await tenant.client.submit(body)]);
    };
    // One at a time, whatever waits.
    for (let i = 0; i < 6; i++) await submit(free!, SHORT);
    // Loading, printing and finishing; outgoing connections that are made, and that are refused.
    await submit(business!, { url: `${pages.url}/page`, options: { watermark: { text: 'DRAFT' } } });
    await submit(business!, { html: '<img src="http://10.0.0.1/a.png"><p>Blocked</p>' });
    for (let i = 0; i < 4; i++) await business!.client.render(SHORT);
    await fail(business!);
    await loseABrowser(service, business!);
    await loseAWorker(service, business!);
    for (let round = 0; round < rounds; round++) {
      // As through a day: little, much, little.
      const many = 4 + Math.round(16 * Math.sin((Math.PI * (round + 1)) / (rounds + 1)));
      for (let i = 0; i < many; i++) await submit(i % 4 === 0 ? professional! : business!, SHORT);
      await Promise.all([business!.client.render(SHORT), professional!.client.render(SHORT)]);
      await pause(1000);
    }
    for (const [{ client }, id] of jobs) await client.end(id, 120_000);
  } finally {
    await pages.close();
  }
}

/** By the document's fault: nobody listens there, a script without end. And one that is cancelled while it runs. */
async function fail({ client }: Tenant): Promise<void> {
  const unreachable = await client.submit({ url: `http://127.0.0.1:${await freePort()}/` });
  const endless = await client.submit({
    html: '<script>for (;;);</script>',
    options: { timeoutMs: 1000 },
  });
  const cancelled = await client.submit({ ...LONG, options: { delayMs: 10_000 } });
  await processing(client, cancelled);
  await client.call('DELETE', `/v1/pdf/jobs/${cancelled}`);
  for (const id of [unreachable, endless, cancelled]) await client.end(id);
}

async function loseABrowser(service: TestService, { client }: Tenant): Promise<void> {
  const ids = await Promise.all([client.submit(LONG), client.submit(LONG)]);
  await Promise.all(ids.map((id) => processing(client, id)));
  const worker = service.roles.get('worker-1')!;
  const browser = descendants(worker.pid).find(({ command }) => /chrom/i.test(command));
  if (browser === undefined) throw new Error('worker-1 has no browser');
  killProcess(browser.pid);
  for (const id of ids) await client.end(id);
}

/** Its jobs are taken up by the other when their leases have ended. */
async function loseAWorker(service: TestService, { client }: Tenant): Promise<void> {
  const ids = await Promise.all(Array.from({ length: 4 }, () => client.submit(LONG)));
  await Promise.all(ids.slice(0, 2).map((id) => processing(client, id)));
  await service.roles.get('worker-2')!.end('SIGKILL');
  await service.restart('worker-2');
  for (const id of ids) await client.end(id);
}

async function processing(client: Tenant['client'], jobId: string): Promise<void> {
  for (;;) {
    const { json } = await client.call('GET', `/v1/pdf/jobs/${jobId}`);
    if (json.status !== 'queued') return;
    await pause(20);
  }
}
