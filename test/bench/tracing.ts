/**
 * What traces cost a render: an invoice rendered by a standalone that sends traces to a collector and by one that does
 * not, in turn. Prints how many are made a second with traces, as a part of those without, and the processor time of one
 * more in the process of Platen itself; the lowest and the highest round beside the median. A busy machine hides so small
 * a difference, so the spans of a render are made and sent in this process as well, with nothing beside them.
 *
 * BENCH_ROUNDS (default 7), BENCH_SECONDS (default 4): of each measurement. Alone: `BENCH_PART=tracing make bench`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { openTracing } from '../../src/infra/tracing/open-tracing.ts';
import type { Tracing } from '../../src/infra/tracing/tracing.ts';
import { traceAttempt } from '../../src/worker/attempt-trace.ts';
import { newJob } from '../support/domain.ts';
import { spread } from './load.ts';
import { onStandalone, type StandaloneBench } from './on-database.ts';
import { type Measured, measureStandalone } from './standalone-cost.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const DURATION_MS = 1000 * Number(process.env.BENCH_SECONDS ?? 4);
const CALLERS = 4;
/** Renders of 11 spans each: about as many spans as are sent in one request. */
const RENDERS_OF_BATCH = 47;
const BATCHES = 200;

let received = 0;
const collector = createServer((request, response) => {
  received += 1;
  request.resume().on('end', () => response.end());
});
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
const { port } = collector.address() as AddressInfo;
const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };

await spansAlone();
await onStandalone(1, CALLERS, (without) =>
  onStandalone(1, CALLERS, (within) => compare(without, within), traced),
);
process.exit(0);

/** The processor time of the spans of a render, with their sending, and that of the collector, which is here as well. */
async function spansAlone(): Promise<void> {
  const config = loadConfig('standalone', traced);
  const logger = pino({ level: 'silent' });
  const tracing = await openTracing(config, { role: 'standalone', instance: 'bench', logger });
  const measured: number[] = [];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const before = process.cpuUsage();
    for (let i = 0; i < RENDERS_OF_BATCH; i += 1) makeSpans(tracing);
    // As many as are sent at a time wait for no timer.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { user, system } = process.cpuUsage(before);
    measured.push((user + system) / 1000 / RENDERS_OF_BATCH);
  }
  await tracing.stop();
  console.log(
    `\nThe spans of a render alone: ${spread(measured.slice(BATCHES / 2), 3)} ms of processor time`,
  );
}

function makeSpans(tracing: Tracing): void {
  const request = tracing.startSpan('POST /v1/pdf', { kind: 'server' });
  tracing.startSpan('admission', { parent: request.context }).end();
  const { job } = newJob('account', { startedAt: new Date(), attempts: 1, trace: request.context! });
  const trace = traceAttempt(tracing, job);
  trace.renders();
  trace.rendered({ phases: { page: 1, load: 1, wait: 1, print: 1, finish: 1 } });
  trace.stored(Date.now());
  trace.ends({ outcome: 'completed', pages: 1, bytes: 1 });
  trace.end();
  request.end({ attributes: { 'http.response.status_code': 200 } });
}

async function compare(without: StandaloneBench, within: StandaloneBench): Promise<void> {
  const ratios: number[] = [];
  const more: number[] = [];
  for (const bench of [without, within]) await measureStandalone(bench, CALLERS, DURATION_MS);
  for (let round = 0; round < ROUNDS; round += 1) {
    // Who comes first changes, so that neither has the warmer machine.
    const order = round % 2 === 0 ? [without, within] : [within, without];
    const results = new Map<StandaloneBench, Measured>();
    for (const bench of order) results.set(bench, await measureStandalone(bench, CALLERS, DURATION_MS));
    const [off, on] = [results.get(without)!, results.get(within)!];
    ratios.push(on.perSecond / off.perSecond);
    more.push(on.cpuMs - off.cpuMs);
  }
  console.log(`\nRenders with traces beside those without, ${CALLERS} callers, ${ROUNDS} rounds`);
  console.log(
    `  invoice: ${spread(ratios, 2)} of the renders a second; ${spread(more, 2)} ms more of processor time of Platen itself, wanted ≤ 0.3`,
  );
  if (received === 0) throw new Error('The collector has received nothing.');
}
