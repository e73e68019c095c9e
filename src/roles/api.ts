import { groupOf } from '../batches/batch.ts';
import { BatchFiles } from '../batches/batch-files.ts';
import type { Batches } from '../batches/open-batches.ts';
import { NO_AUTO_OVERAGE } from '../billing/auto-overage.ts';
import { coresOfMachine } from '../chromium/cores.ts';
import { machineMemory } from '../chromium/process/machine-memory.ts';
import { opsPortOf } from '../config.ts';
import { createAddressPolicy } from '../egress/address-policy.ts';
import { checkCallbackUrl } from '../egress/callback-url.ts';
import { parseNetworks } from '../egress/networks.ts';
import { checkSourceUrl } from '../egress/source-url.ts';
import { PlatenError } from '../errors/registry.ts';
import { openCountryDatabase } from '../geo/country-database.ts';
import type { ApiParts } from '../http/api-parts.ts';
import { createHttpApp } from '../http/app.ts';
import { BodyIntake } from '../http/body-intake.ts';
import { createDownloads } from '../http/downloads.ts';
import { EventStreams } from '../http/event-stream.ts';
import { ANSWER_BOUNDS, UnreadAnswers } from '../http/unread-answers.ts';
import { LastUse } from '../keys/last-use.ts';
import { AdmissionTurns } from '../limits/admission-turns.ts';
import { LoadShedder } from '../limits/load-shedder.ts';
import { DownloadLinks } from '../orders/download-links.ts';
import { EndWaiter } from '../orders/end-waiter.ts';
import { RenderService } from '../orders/render-service.ts';
import { createPdfMerger } from '../pdf/merge.ts';
import type { TemplateEngine } from '../templates/engine/template-engine.ts';
import { TemplateEditor } from '../templates/template-editor.ts';
import type { ApiServices } from './api-services.ts';
import { boundConnections } from './bound-connections.ts';
import type { Core } from './core.ts';
import type { HealthChecks } from './health.ts';
import { type ListeningComponent, listen } from './http-server.ts';
import { ServerDrain } from './server-drain.ts';

/**
 * Of one core, between two orders for the background of one account while callers of others wait: twenty a second for each
 * core that there is, where letting one in takes some five milliseconds.
 */
const GAP_CORE_MS = 50;
const COUNT_EVERY_MS = 1000;
const STORAGE_RETRY_S = 10;
/** The time a request has to arrive in whole: a slow upload holds a connection for no longer. */
const REQUEST_TIMEOUT_MS = 60_000;
/** The same of its head, from the beginning of a connection or the end of the request before. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Between two looks for connections that have run out of either time. */
const CHECK_CONNECTIONS_MS = 5000;
/** The window in which a body has to keep its rate: longer than a network recovers from a lost packet. */
const UPLOAD_WINDOW_MS = 5000;
/**
 * A connection over which nothing passes for so long is closed: what is to be sent over it lies in memory until then. Longer
 * than any answer is waited for.
 */
const STILL_MS = 300_000;
/** Beyond the wait for a PDF. */
const STILL_AFTER_WAIT_MS = 60_000;
/** Longer than proxies and clients keep an idle connection, so that none is closed under a request on its way. */
const KEEP_ALIVE_MS = 75_000;
/** While it stops: what is left of the grace for the answers of those that waited in vain, in milliseconds. */
const ANSWER_MS = 1000;
/** While it stops: how long requests are taken over the connections that callers have kept, in milliseconds. */
const LAST_REQUESTS_MS = 2000;
/** Of the grace, what that may take at most. */
const LAST_REQUESTS_SHARE = 1 / 4;

/**
 * The HTTP side: takes orders and answers for jobs.
 *
 * @param secret signs download links.
 * @param templateEngine checks what is saved and renders previews; closed by whoever made it.
 * @param checks tell the health of all components of the process together.
 */
export async function startApi(
  core: Core,
  { batches, ...services }: ApiServices & { readonly batches: Batches },
  secret: string,
  templateEngine: TemplateEngine,
  checks: HealthChecks,
): Promise<ListeningComponent> {
  const { config, logger, clock, jobs } = core;
  const { accountServices, keys, templates } = services;
  const waiter = new EndWaiter(core.bus);
  const renders = new RenderService({
    ...jobs,
    outputs: core.outputs,
    waiter,
    clock,
    syncWaitMs: config.PLATEN_SYNC_WAIT_MS,
  });
  const lastUse = new LastUse({ keys, countries: await openCountryDatabase(), clock, logger });
  const shedder = watchLoad(core);
  const policy = createAddressPolicy({
    allowedNetworks: parseNetworks(config.PLATEN_ALLOWED_PRIVATE_NETWORKS),
  });
  const batchWatch = new EventStreams();
  const heard = await core.bus.subscribeEvents('outcomes', ({ jobId }) =>
    batchWatch.happened(groupOf(jobId)),
  );
  const merger = createPdfMerger({ memoryBytes: machineMemory().total, logger });
  const parts: ApiParts = {
    ...services,
    ...accountServices,
    ...checks,
    config,
    bodies: new BodyIntake({
      totalBytes: config.PLATEN_MAX_UPLOAD_BYTES,
      bytesPerOwner: config.PLATEN_MAX_UPLOAD_BYTES_PER_ACCOUNT,
      leastRate: config.PLATEN_LEAST_UPLOAD_RATE,
      rateWindowMs: UPLOAD_WINDOW_MS,
    }),
    answers: new UnreadAnswers(ANSWER_BOUNDS),
    turns: new AdmissionTurns(core.role === 'standalone' ? { gapMs: GAP_CORE_MS / coresOfMachine() } : {}),
    renders,
    batches: batches.service,
    batchMetrics: batches.metrics,
    batchFiles: new BatchFiles(batches.service, core.outputs, merger),
    batchWatch,
    downloads: createDownloads(),
    accounts: core.accounts,
    templateEditor: new TemplateEditor({
      store: templates,
      engine: templateEngine,
      audit: accountServices.audit,
      room: jobs.stored,
    }),
    lastUse,
    plans: core.plans,
    links: new DownloadLinks(secret),
    publicUrl: () => core.address.publicUrl ?? '',
    metrics: core.metrics,
    logger,
    clock,
    admission: ({ priceCentsPerMonth }) => shedder.refusal(priceCentsPerMonth > 0) ?? storageRefusal(core),
    deliveries: core.callbacks.deliveries,
    checkCallbackUrl: (url) => checkCallbackUrl(url, policy),
    autoOverage: services.billing.selling?.autoOverage ?? NO_AUTO_OVERAGE,
    checkUrl: (url) => void checkSourceUrl(url, policy),
  };
  const app = createHttpApp(parts, opsPortOf(core.role, config) === config.PORT);
  const { server, port } = await listen(app, config.PORT, config.PLATEN_HOST, {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  const drain = new ServerDrain(server);
  const stillMs = Math.max(STILL_MS, config.PLATEN_SYNC_WAIT_MS + STILL_AFTER_WAIT_MS);
  boundConnections(server, { max: config.PLATEN_MAX_CONNECTIONS, stillMs }, logger);
  core.address.publicUrl ??= `http://localhost:${port}`;
  return {
    port,
    async stop() {
      const graceMs = config.PLATEN_SHUTDOWN_GRACE_MS;
      const force = setTimeout(() => server.closeAllConnections(), graceMs);
      // In standalone nobody else is there to take a caller's next request.
      const lastMs =
        core.role === 'standalone' ? 0 : Math.min(LAST_REQUESTS_MS, graceMs * LAST_REQUESTS_SHARE);
      if (lastMs > 0) await drain.takeLastRequests(lastMs);
      shedder.stop();
      batchWatch.close();
      await heard.stop();
      const closed = drain.close();
      // Callers whose jobs take longer than the grace are answered 202: those go on without us.
      await waiter.close(Math.max(0, graceMs - lastMs - ANSWER_MS));
      await closed;
      clearTimeout(force);
      await lastUse.flush();
      await merger.close();
    },
    problems: () => [],
    stuck: () => undefined,
  };
}

/** What new work is refused with while nothing more can be kept. */
function storageRefusal({ storageProblem }: Core): PlatenError | undefined {
  if (storageProblem() === undefined) return undefined;
  // What is wrong with which disk is for whoever runs the service, who is told at /readyz.
  return new PlatenError('UNAVAILABLE', 'The service has no room to keep more work at the moment.', {
    retryAfterSeconds: STORAGE_RETRY_S,
  });
}

/** Logs that new work is refused for want of room, and that it no longer is. */
function storageLog({ logger, storageProblem }: Core): () => void {
  let told = false;
  return () => {
    const problem = storageProblem();
    if ((problem !== undefined) === told) return;
    told = problem !== undefined;
    if (told) logger.error({ problem }, 'new work is refused; what was accepted is kept and goes on');
    else logger.info('there is room again: new work is taken');
  };
}

/** Counts the live jobs once in a while; past the bound new work is refused. */
function watchLoad(core: Core): Pick<LoadShedder, 'refusal'> & { stop: () => void } {
  const { config, jobs, clock } = core;
  const bound = config.PLATEN_MAX_LIVE_JOBS;
  const kept = Math.floor((bound * config.PLATEN_LIVE_JOBS_KEPT_FOR_PAID) / 100);
  const shedder = new LoadShedder(bound, bound - kept);
  const logStorage = storageLog(core);
  const timer = setInterval(() => {
    logStorage();
    jobs.store.live.estimatedCount().then(
      (count) => shedder.observe(count, clock.now()),
      // The database is away; what needs it fails by itself.
      () => undefined,
    );
  }, COUNT_EVERY_MS);
  timer.unref();
  return { refusal: (paid) => shedder.refusal(paid), stop: () => clearInterval(timer) };
}
