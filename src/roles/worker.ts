import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChromiumRenderer } from '../chromium/chromium-renderer.ts';
import { coresOfMachine } from '../chromium/cores.ts';
import { DocumentHost } from '../chromium/page/document-host.ts';
import { machineMemory } from '../chromium/process/machine-memory.ts';
import { sharedMemoryRoot } from '../chromium/process/shared-memory.ts';
import type { BrowserStatus } from '../chromium/renderer.ts';
import { createAddressPolicy, machineAddresses } from '../egress/address-policy.ts';
import { parseNetworks } from '../egress/networks.ts';
import { startEgressProxy } from '../egress/proxy.ts';
import { createPdfFinisher } from '../pdf/finish.ts';
import { sandboxProcesses } from '../sandbox/turns.ts';
import { ensureIndexes } from '../store/collection-spec.ts';
import type { TemplateEngine } from '../templates/engine/template-engine.ts';
import { WorkerPresence } from '../worker/presence.ts';
import { spareSlots } from '../worker/slots.ts';
import { warmUp } from '../worker/warm-up.ts';
import { Worker } from '../worker/worker.ts';
import { WorkerRegistry } from '../workers/worker-registry.ts';
import type { Component } from './component.ts';
import type { Core } from './core.ts';
import { recordWait } from './record-wait.ts';

/** Few documents have something to be finished, and a process may take a gigabyte. */
const SLOTS_PER_FINISHER_PROCESS = 8;
/**
 * Renders that are claimed and not at rest, for each core: while one computes, the next is fetched and the last is
 * written down. More would only wait here, where another worker cannot take them.
 */
const CLAIMED_PER_CORE = 2;
/** Of each kind of page: as many accounts that come for the first time need not wait for a process. */
const CONTEXTS_AHEAD = 2;
/** A busy pool in which no render ends for this long, past the longest deadline, is stuck. */
const STUCK_AFTER_MS = 330_000;

/**
 * Everything that turns a claimed job into a PDF: egress proxy, Chromium, PDF finisher, and the worker itself.
 *
 * @param templates closed by whoever made it.
 */
export async function startWorker(core: Core, templates: TemplateEngine): Promise<Component> {
  const { config, logger, metrics } = core;
  const policy = createAddressPolicy({
    allowedNetworks: parseNetworks(config.PLATEN_ALLOWED_PRIVATE_NETWORKS),
    ownAddresses: machineAddresses(),
  });
  const documents = new DocumentHost();
  const proxy = await startEgressProxy({
    policy,
    answer: (...asked) => documents.answer(...asked),
    logger,
    metrics: { outcome: (outcome) => metrics.egress.inc({ outcome }) },
  });
  const memory = machineMemory();
  const finisher = createPdfFinisher({
    processes: sandboxProcesses(config.PLATEN_WORKER_SLOTS, SLOTS_PER_FINISHER_PROCESS),
    memoryBytes: memory.total,
    logger,
  });
  let rest: (renders: number) => void = () => undefined;
  const renderer = await createChromiumRenderer({
    slots: config.PLATEN_WORKER_SLOTS,
    spareSlots: spareSlots(config.PLATEN_WORKER_SLOTS),
    memory,
    onResting: (renders) => rest(renders),
    isolation: config.PLATEN_ISOLATION,
    browserPath: config.PLATEN_CHROMIUM_PATH,
    sandbox: config.PLATEN_SANDBOX,
    proxyUrl: proxy.url,
    egress: proxy,
    documents,
    finish: (pdf, finishing) => finisher.finish(pdf, finishing),
    countPages: (pdf, time) => finisher.countPages(pdf, time),
    logger,
    metrics,
    userDataRoot: join(tmpdir(), 'platen-chromium'),
    sharedMemoryRoot: sharedMemoryRoot(memory.total),
    warmMemoryShare: config.PLATEN_WARM_MEMORY_PERCENT / 100,
    contextsAhead: CONTEXTS_AHEAD,
  });
  const { browser } = renderer;
  await warmUp(renderer, logger);
  metrics.browserSandboxed.set({ version: browser.version }, browser.sandbox === 'on' ? 1 : 0);
  const pool = config.PLATEN_POOL;
  const owner = `${core.instance}-${randomUUID().slice(0, 8)}`;
  metrics.workerSlots.set({ kind: 'total', pool }, config.PLATEN_WORKER_SLOTS);
  metrics.workerSlots.set({ kind: 'busy', pool }, 0);
  const worker = new Worker({
    ...core.jobs,
    renderer,
    templates,
    outputs: core.outputs,
    clock: core.clock,
    random: Math.random,
    retryBaseMs: config.PLATEN_RETRY_BASE_MS,
    logger,
    observe: {
      claimed: (job) => recordWait(metrics, job),
      rendered(phases, pages, bytes) {
        for (const [phase, ms] of Object.entries(phases))
          metrics.renderDuration.observe({ phase }, ms / 1000);
        metrics.pages.inc(pages);
        metrics.bytes.inc(bytes);
        metrics.pdfSize.observe(bytes);
      },
      ended(job) {
        metrics.renderDuration.observe({ phase: 'total' }, job.processingTimeMs / 1000);
      },
      retried: (code) => metrics.retries.inc({ code }),
      lost: () => metrics.rendersDropped.inc(),
    },
    bus: core.bus,
    owner,
    pool,
    slots: config.PLATEN_WORKER_SLOTS,
    computing: CLAIMED_PER_CORE * coresOfMachine(),
    leaseMs: config.PLATEN_LEASE_MS,
    onSlots: (busy) => metrics.workerSlots.set({ kind: 'busy', pool }, busy),
  });
  rest = (renders) => worker.rest(renders);
  const presence = core.role === 'standalone' ? undefined : await openPresence(core, worker, owner, browser);
  await presence?.start();
  await worker.start();
  metrics.workerStart.set({ pool }, process.uptime());
  return {
    async stop() {
      const stopped = worker.stop(config.PLATEN_SHUTDOWN_GRACE_MS);
      // What it holds from now on asks for no worker in its place.
      await presence?.reportNow();
      await stopped;
      await presence?.stop();
      await renderer.close();
      await Promise.all([finisher.close(), proxy.close()]);
    },
    browser,
    problems: () => (renderer.health().ready ? [] : ['chromium: no browser is ready']),
    stuck() {
      const { busy, lastProgress } = renderer.health();
      return busy > 0 && Date.now() - lastProgress > STUCK_AFTER_MS
        ? 'worker: no render has ended for longer than any may take'
        : undefined;
    },
  };
}

/** What the worker says of itself in the registry, and what it does when it is asked there. */
async function openPresence(
  core: Core,
  worker: Worker,
  owner: string,
  browser: BrowserStatus,
): Promise<WorkerPresence> {
  const { config, clock, connection, logger } = core;
  const registry = new WorkerRegistry(connection, clock);
  await ensureIndexes(connection);
  const lasting = {
    _id: owner,
    pool: config.PLATEN_POOL,
    pod: config.POD_NAME ?? null,
    namespace: config.POD_NAMESPACE ?? null,
    node: config.NODE_NAME ?? null,
    slots: config.PLATEN_WORKER_SLOTS,
    startedAt: clock.now(),
    sandbox: browser.sandbox,
    browser: browser.version,
  };
  return new WorkerPresence({
    registry,
    describe: () => ({ ...lasting, busy: worker.busy, state: worker.state }),
    follow: (mayClaim) => (mayClaim ? worker.resume() : worker.pause()),
    logger,
  });
}
