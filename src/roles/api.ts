import { NO_AUTO_OVERAGE } from '../billing/blocks/auto-overage-port.ts';
import { opsPortOf } from '../config/config.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import { createHttpApp } from '../http/app.ts';
import { accountStreams, EventStreams } from '../http/request/event-stream.ts';
import { createAddressPolicy } from '../infra/egress/address-policy.ts';
import { checkCallbackUrl } from '../infra/egress/callback-url.ts';
import { parseNetworks } from '../infra/egress/networks.ts';
import { checkSourceUrl } from '../infra/egress/source-url.ts';
import { coresOfMachine } from '../infra/machine/machine-cores.ts';
import { machineMemory } from '../infra/machine/machine-memory.ts';
import { BodyIntake } from '../infra/overload/body-intake.ts';
import { ChangeGate } from '../infra/overload/change-gate.ts';
import { boundConnections, CONNECTION_TIMEOUTS, inactivityMsFor } from '../infra/overload/connections.ts';
import { createDownloads } from '../infra/overload/downloads.ts';
import { RESPONSE_BOUNDS, UnreadResponses } from '../infra/overload/unread-responses.ts';
import { WorkGate } from '../infra/overload/work-gate.ts';
import { AdmissionQueue } from '../infra/scheduling/admission-queue.ts';
import { createPdfMerger } from '../render/pdf/merge.ts';
import { openCountryDatabase } from '../tenants/keys/country-database.ts';
import { LastUse } from '../tenants/keys/last-use.ts';
import type { TemplateEngine } from '../tenants/templates/engine/template-engine.ts';
import { TemplateEditor } from '../tenants/templates/template-editor.ts';
import { groupOf } from '../work/batches/batch.ts';
import { BatchFiles } from '../work/batches/batch-files.ts';
import type { Batches } from '../work/batches/open-batches.ts';
import { DownloadLinks } from '../work/jobs/submission/download-links.ts';
import { OutcomeWaiter } from '../work/jobs/submission/outcome-waiter.ts';
import { RenderService } from '../work/jobs/submission/render-service.ts';
import type { AdminApi } from './admin.ts';
import type { ApiServices } from './api-services.ts';
import type { Core } from './core.ts';
import type { HealthChecks } from './process/health-checks.ts';
import { type ListeningComponent, listen } from './process/http-server.ts';
import { ServerDrain } from './process/server-drain.ts';

/**
 * The least time on one core between two background submissions of one account while callers of others wait: 20 per
 * second and core, where admitting one takes some 5 ms.
 */
const GAP_CORE_MS = 50;
/** The window in which a body has to keep its rate: longer than a network takes to recover from a lost packet. */
const UPLOAD_WINDOW_MS = 5000;
/**
 * While the API stops: the last part of the grace, for the responses to callers that waited in vain, in milliseconds.
 */
const RESPONSE_MS = 1000;
/** While the API stops: how long requests are taken over kept connections, in milliseconds. */
const LAST_REQUESTS_MS = 2000;
/** The most of the grace that `LAST_REQUESTS_MS` may take. */
const LAST_REQUESTS_SHARE = 1 / 4;

/**
 * The HTTP side: takes submissions and serves their results.
 *
 * @param secret signs download links.
 * @param templateEngine checks saved templates and renders previews; the caller closes it.
 * @param checks the health of all components of the process together.
 * @param onOpen called with the parts of the API before it listens.
 */
export async function startApi(
  core: Core,
  { batches, ...services }: ApiServices & { readonly batches: Batches },
  secret: string,
  templateEngine: TemplateEngine,
  checks: HealthChecks,
  onOpen?: (deps: AdminApi) => Promise<void>,
): Promise<ListeningComponent> {
  const { config, logger, clock, jobs } = core;
  const { accountServices, keys, templates } = services;
  const waiter = new OutcomeWaiter(core.bus);
  const renders = new RenderService({
    ...jobs,
    outputs: core.outputs,
    waiter,
    clock,
    syncWaitMs: config.PLATEN_SYNC_WAIT_MS,
  });
  const lastUse = new LastUse({ keys, countries: await openCountryDatabase(), clock, logger });
  const gate = new WorkGate({
    maxLiveJobs: config.PLATEN_MAX_LIVE_JOBS,
    keptForPaidPercent: config.PLATEN_LIVE_JOBS_KEPT_FOR_PAID,
    countLiveJobs: () => jobs.store.live.estimatedCount(),
    storageProblem: core.storageProblem,
    clock,
    logger,
  });
  const policy = createAddressPolicy({
    allowedNetworks: parseNetworks(config.PLATEN_ALLOWED_PRIVATE_NETWORKS),
  });
  const batchWatch = new EventStreams();
  const accountWatch = accountStreams();
  const subscription = await core.bus.subscribeEvents('outcomes', ({ jobId }) =>
    batchWatch.notify(groupOf(jobId)),
  );
  const merger = createPdfMerger({ memoryBytes: machineMemory().total, logger });
  const deps: Omit<ApiDeps, 'forOperators'> = {
    ...services,
    ...accountServices,
    ...checks,
    config,
    changes: new ChangeGate(core.changes),
    bodies: new BodyIntake({
      inAll: config.PLATEN_MAX_UPLOAD_BYTES,
      perOwner: config.PLATEN_MAX_UPLOAD_BYTES_PER_ACCOUNT,
      leastRate: config.PLATEN_LEAST_UPLOAD_RATE,
      rateWindowMs: UPLOAD_WINDOW_MS,
    }),
    unread: new UnreadResponses(RESPONSE_BOUNDS),
    admissionQueue: new AdmissionQueue(
      core.role === 'standalone' ? { gapMs: GAP_CORE_MS / coresOfMachine() } : {},
    ),
    renders,
    batches: batches.service,
    batchMetrics: batches.metrics,
    batchFiles: new BatchFiles(batches.service, core.outputs, merger),
    batchWatch,
    accountWatch,
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
    tracing: core.tracing,
    logger,
    clock,
    admission: (plan) => gate.rejection(plan),
    deliveries: core.callbacks.deliveries,
    stored: jobs.stored,
    checkCallbackUrl: (url) => checkCallbackUrl(url, policy),
    autoOverage: services.billing.selling?.autoOverage ?? NO_AUTO_OVERAGE,
    checkUrl: (url, name) => void checkSourceUrl(url, policy, name),
  };
  await onOpen?.(deps);
  const app = createHttpApp(deps, opsPortOf(core.role, config) === config.PORT);
  const { server, port } = await listen(app, config.PORT, config.PLATEN_HOST, CONNECTION_TIMEOUTS);
  const drain = new ServerDrain(server);
  boundConnections(
    server,
    { max: config.PLATEN_MAX_CONNECTIONS, inactivityMs: inactivityMsFor(config.PLATEN_SYNC_WAIT_MS) },
    logger,
  );
  core.address.publicUrl ??= `http://localhost:${port}`;
  return {
    port,
    async stop() {
      const graceMs = config.PLATEN_SHUTDOWN_GRACE_MS;
      const force = setTimeout(() => server.closeAllConnections(), graceMs);
      // In standalone no other process takes a caller's next request.
      const lastMs =
        core.role === 'standalone' ? 0 : Math.min(LAST_REQUESTS_MS, graceMs * LAST_REQUESTS_SHARE);
      if (lastMs > 0) await drain.takeLastRequests(lastMs);
      gate.stop();
      batchWatch.close();
      accountWatch.close();
      await subscription.stop();
      const closed = drain.close();
      // Callers whose jobs take longer than the grace get 202: the jobs go on without this process.
      await waiter.close(Math.max(0, graceMs - lastMs - RESPONSE_MS));
      await closed;
      clearTimeout(force);
      await lastUse.flush();
      await merger.close();
    },
    problems: () => [],
    stuck: () => undefined,
  };
}
