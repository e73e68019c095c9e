import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ordinary, Sweeper } from '../infra/async/sweeper.ts';
import { createGuardedAgent } from '../infra/egress/guarded-agent.ts';
import { startEgressProxy } from '../infra/egress/proxy.ts';
import { coresOfMachine } from '../infra/machine/machine-cores.ts';
import { machineMemory } from '../infra/machine/machine-memory.ts';
import type { Offers } from '../infra/outputs/offers/offers.ts';
import { sandboxProcesses } from '../infra/scheduling/sandbox-processes.ts';
import { spareSlots, WorkerSlots } from '../infra/scheduling/worker-slots.ts';
import { observeDuration } from '../infra/telemetry/exemplars.ts';
import { recordedTrace } from '../infra/tracing/trace-context.ts';
import { createChromiumRenderer } from '../render/chromium/create-chromium-renderer.ts';
import { DocumentHost } from '../render/chromium/page/document-host.ts';
import { sharedMemoryRoot } from '../render/chromium/process/shared-memory.ts';
import { withConversions } from '../render/conversion/with-conversions.ts';
import { createPdfFinisher, type PdfFinisher } from '../render/pdf/finish.ts';
import type { BrowserStatus } from '../render/renderer.ts';
import { listAssignedKeys } from '../render/seal/assigned-keys.ts';
import { createKeySigner } from '../render/seal/signer.ts';
import type { TemplateEngine } from '../tenants/templates/engine/template-engine.ts';
import { recordWait } from '../work/jobs/record-wait.ts';
import { askDigestServer } from '../work/seals/digest-server.ts';
import { createExchange } from '../work/seals/exchange.ts';
import { askRevocationServers } from '../work/seals/revocation-servers.ts';
import { askTimestampAuthority } from '../work/seals/timestamp-authority.ts';
import { WorkerPresence } from '../worker/presence.ts';
import type { AttemptDeps } from '../worker/render-attempt.ts';
import { createSealer } from '../worker/seal-pdf.ts';
import { warmUp } from '../worker/warm-up.ts';
import { Worker } from '../worker/worker.ts';
import type { Core } from './core.ts';
import type { Component } from './process/component.ts';
import { wayOutOf } from './way-out.ts';

/** Few documents need a finisher, and one of its processes may take a gigabyte. */
const SLOTS_PER_FINISHER_PROCESS = 8;
/**
 * Claimed renders per core that are not blocked on I/O: while one computes, the next is fetched and the last is stored.
 * More would only wait here, where other workers cannot take them.
 */
const CLAIMED_PER_CORE = 2;
/** Contexts of each kind of page: that many new accounts need not wait for a renderer process. */
const CONTEXTS_AHEAD = 2;
/** How long a server that signs for a customer may take to respond, in milliseconds. */
const SEAL_REQUEST_MS = 10_000;
/** How often a worker looks for which accounts it has keys, in milliseconds. */
const SEAL_KEYS_EVERY_MS = 3000;
/** In milliseconds. A busy pool in which no render ends for this long, past the longest deadline, is stuck. */
const STUCK_AFTER_MS = 330_000;

/**
 * Everything that converts a claimed job into a PDF: egress proxy, Chromium, PDF finisher, and the worker itself.
 *
 * @param templates the caller closes it.
 * @param offers sends PDFs to processes that wait for them; default: those read them from the store.
 */
export async function startWorker(
  core: Core,
  templates: TemplateEngine,
  offers?: Offers,
): Promise<Component> {
  const { config, logger, metrics } = core;
  const documents = new DocumentHost();
  const proxy = await startEgressProxy({
    ...wayOutOf(config),
    respondLocally: (...exchange) => documents.response(...exchange),
    logger,
    metrics: { outcome: (outcome) => metrics.egress.inc({ outcome }) },
  });
  const memory = machineMemory();
  const finisher = createPdfFinisher({
    processes: sandboxProcesses(config.PLATEN_WORKER_SLOTS, SLOTS_PER_FINISHER_PROCESS),
    memoryBytes: memory.total,
    logger,
  });
  const pool = config.PLATEN_POOL;
  const slots = new WorkerSlots(config.PLATEN_WORKER_SLOTS, {
    computing: CLAIMED_PER_CORE * coresOfMachine(),
    onBusy: (busy) => metrics.workerSlots.set({ kind: 'busy', pool }, busy),
  });
  const blocked = { renders: 0, seals: 0 };
  const setBlocked = (change: Partial<typeof blocked>) => {
    Object.assign(blocked, change);
    slots.setBlocked(blocked.renders + blocked.seals);
  };
  const seals = openSeals(core, finisher, (waiting) => setBlocked({ seals: waiting }));
  const renderer = await createChromiumRenderer({
    slots: config.PLATEN_WORKER_SLOTS,
    spareSlots: spareSlots(config.PLATEN_WORKER_SLOTS),
    memory,
    onBlocked: (renders) => setBlocked({ renders }),
    isolation: config.PLATEN_ISOLATION,
    browserPath: config.PLATEN_CHROMIUM_PATH,
    sandbox: config.PLATEN_SANDBOX,
    locale: config.PLATEN_LOCALE,
    proxyUrl: proxy.url,
    egress: proxy,
    documents,
    finisher,
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
  const owner = `${core.instance}-${randomUUID().slice(0, 8)}`;
  metrics.workerSlots.set({ kind: 'total', pool }, config.PLATEN_WORKER_SLOTS);
  metrics.workerSlots.set({ kind: 'busy', pool }, 0);
  const worker = new Worker({
    ...core.jobs,
    renderer: withConversions(renderer, finisher),
    seals: seals.sealer,
    templates,
    outputs: core.outputs,
    ...(offers && { offer: offerTo(core, offers) }),
    clock: core.clock,
    random: Math.random,
    retryBaseMs: config.PLATEN_RETRY_BASE_MS,
    logger,
    tracing: core.tracing,
    observe: {
      claimed: (job) => recordWait(metrics, job),
      rendered({ trace }, { phases }, pages, bytes) {
        const traceId = recordedTrace(trace);
        for (const [phase, ms] of Object.entries(phases))
          observeDuration(metrics.renderDuration, { phase }, ms / 1000, traceId);
        metrics.pages.inc(pages);
        metrics.bytes.inc(bytes);
        metrics.pdfSize.observe(bytes);
      },
      ended(job) {
        const seconds = job.processingTimeMs / 1000;
        observeDuration(metrics.renderDuration, { phase: 'total' }, seconds, recordedTrace(job.trace));
      },
      retried: (code) => metrics.retries.inc({ code }),
      lost: () => metrics.rendersDropped.inc(),
    },
    bus: core.bus,
    owner,
    pool,
    slots,
    leaseMs: config.PLATEN_LEASE_MS,
  });
  const presence = core.role === 'standalone' ? undefined : await openPresence(core, worker, owner, browser);
  await presence?.start();
  await worker.start();
  metrics.workerStart.set({ pool }, process.uptime());
  return {
    async stop() {
      const stopped = worker.stop(config.PLATEN_SHUTDOWN_GRACE_MS);
      // Jobs that it holds from now on need no other worker.
      await presence?.reportNow();
      await stopped;
      await presence?.stop();
      await renderer.close();
      await Promise.all([finisher.close(), proxy.close(), seals.close()]);
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

/** Tells the process that waits for a PDF where it can be had while it is being stored. */
function offerTo({ jobs }: Core, offers: Offers): NonNullable<AttemptDeps['offer']> {
  return ({ _id: jobId, replyTo, outputMode }, bytes) => {
    const made = replyTo === undefined || outputMode !== 'binary' ? undefined : offers.make(bytes);
    if (made === undefined) return undefined;
    jobs.dispatch.report({ jobId, kind: 'offered', to: replyTo, offer: made.offer });
    return made.withdraw;
  };
}

/** What seals PDFs: by keys of the operator, and by servers of customers, under the address policy of documents. */
function openSeals(core: Core, finisher: PdfFinisher, onWaiting: (seals: number) => void) {
  const { config, clock, logger, metrics, callbacks } = core;
  const agent = createGuardedAgent({ ...wayOutOf(config), connectTimeoutMs: SEAL_REQUEST_MS });
  const exchange = createExchange(agent, { timeoutMs: SEAL_REQUEST_MS, random: Math.random });
  const signer = createKeySigner({ folder: config.PLATEN_SEAL_KEYS_DIR, logger });
  const server = { exchange, clock, keys: callbacks.keys, headerPrefix: config.PLATEN_HEADER_PREFIX };
  const sealer = createSealer({
    signer,
    ask: (asked) => askDigestServer(server, asked),
    stamp: (asked) => askTimestampAuthority(exchange, asked),
    askRevocation: (asks, where) => askRevocationServers(exchange, asks, where),
    finisher,
    onWaiting,
    observe: (key, outcome) => metrics.seals.inc({ key, outcome }),
  });
  return {
    sealer,
    async close() {
      await Promise.all([signer.close(), agent.destroy()]);
    },
  };
}

/** The worker's entry in the registry, and how it obeys requests there. */
async function openPresence(
  core: Core,
  worker: Worker,
  owner: string,
  browser: BrowserStatus,
): Promise<Pick<WorkerPresence, 'start' | 'reportNow' | 'stop'>> {
  const { config, clock, logger, registry } = core;
  const keys = async () => (await listAssignedKeys(config.PLATEN_SEAL_KEYS_DIR)) ?? null;
  let sealKeys = await keys();
  const sweeper = new Sweeper(logger);
  const look = async () => {
    sealKeys = await keys();
  };
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
  const presence = new WorkerPresence({
    registry,
    describe: () => ({ ...lasting, busy: worker.busy, state: worker.state, sealKeys }),
    follow: (mayClaim) => (mayClaim ? worker.resume() : worker.pause()),
    logger,
  });
  return {
    async start() {
      await presence.start();
      sweeper.start([ordinary('seal keys', SEAL_KEYS_EVERY_MS, look)]);
    },
    reportNow: () => presence.reportNow(),
    async stop() {
      await Promise.all([presence.stop(), sweeper.stop()]);
    },
  };
}
