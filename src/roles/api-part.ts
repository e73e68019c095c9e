import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAddressPolicy } from '../egress/address-policy.ts';
import { parseNetworks } from '../egress/networks.ts';
import { checkSourceUrl } from '../egress/source-url.ts';
import { PlatenError } from '../errors/registry.ts';
import { openCountryDatabase } from '../geo/country-database.ts';
import { createHttpApp } from '../http/app.ts';
import { createOpsApp } from '../http/ops-app.ts';
import { LastUse } from '../keys/last-use.ts';
import { LoadShedder } from '../limits/load-shedder.ts';
import { DownloadLinks } from '../orders/download-links.ts';
import { EndWaiter } from '../orders/end-waiter.ts';
import { RenderService } from '../orders/render-service.ts';
import type { TemplateEngine } from '../templates/engine/template-engine.ts';
import { TemplateEditor } from '../templates/template-editor.ts';
import type { Part } from './part.ts';
import type { Platform } from './platform.ts';

const COUNT_EVERY_MS = 1000;
const STORAGE_RETRY_S = 10;
/** The time a request has to arrive in whole: a slow upload holds a connection for no longer. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than proxies and clients keep an idle connection, so that none is closed under a request on its way. */
const KEEP_ALIVE_MS = 75_000;

export interface ApiPart extends Part {
  readonly port: number;
}

/**
 * The HTTP side: takes orders and answers for jobs.
 *
 * @param templateEngine checks what is saved and renders previews; closed by whoever made it.
 * @param checks tell the health of all parts of the process together.
 */
export async function startApiPart(
  platform: Platform,
  secret: string,
  templateEngine: TemplateEngine,
  checks: HealthChecks,
): Promise<ApiPart> {
  const { config, logger, clock } = platform;
  const waiter = new EndWaiter(platform.bus);
  const renders = new RenderService({
    collections: platform.collections,
    lifecycle: platform.lifecycle,
    dispatch: platform.dispatch,
    outputs: platform.outputs,
    waiter,
    clock,
    syncWaitMs: config.PLATEN_SYNC_WAIT_MS,
    quota: platform.quota,
    settlement: platform.settlement,
  });
  const countries = await openCountryDatabase();
  const lastUse = new LastUse({ keys: platform.keys, countries, clock, logger });
  const shedder = watchLoad(platform);
  const policy = createAddressPolicy({
    allowedNetworks: parseNetworks(config.PLATEN_ALLOWED_PRIVATE_NETWORKS),
  });
  const address: { publicUrl: string } = { publicUrl: config.PLATEN_PUBLIC_URL ?? '' };
  const app = createHttpApp({
    config,
    renders,
    keys: platform.keys,
    accounts: platform.accounts,
    templates: platform.templates,
    templateEditor: new TemplateEditor({
      store: platform.templates,
      engine: templateEngine,
      audit: platform.accountServices.audit,
    }),
    keyService: platform.accountServices.keyService,
    signIn: platform.accountServices.signIn,
    bearer: platform.accountServices.bearer,
    audit: platform.accountServices.audit,
    lastUse,
    plans: platform.plans,
    links: new DownloadLinks(secret),
    publicUrl: () => address.publicUrl,
    metrics: platform.metrics,
    logger,
    clock,
    readiness: checks.readiness,
    liveness: checks.liveness,
    limiter: platform.limiter,
    idempotency: platform.idempotency,
    recorder: platform.recorder,
    usage: platform.usage,
    admission: () => shedder.refusal() ?? storageRefusal(platform),
    checkUrl: (url) => void checkSourceUrl(url, policy),
  });
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS }, app);
  await listen(server, config.PORT, config.PLATEN_HOST);
  const { port } = server.address() as AddressInfo;
  address.publicUrl ||= `http://localhost:${port}`;
  return {
    port,
    async stop() {
      shedder.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const force = setTimeout(() => server.closeAllConnections(), config.PLATEN_SHUTDOWN_GRACE_MS);
      // Callers that wait are answered 202: their jobs go on without us.
      await waiter.close();
      await closed;
      clearTimeout(force);
      await lastUse.flush();
    },
    problems: () => [],
    stuck: () => undefined,
  };
}

export interface HealthChecks {
  readonly readiness: () => Promise<{ ready: boolean; problems: string[] }>;
  readonly liveness: () => { live: boolean; problem?: string };
}

/** Only /healthz, /readyz and /metrics: for the roles that answer no callers. */
export async function startOpsServer(platform: Platform, checks: HealthChecks): Promise<ApiPart> {
  const app = createOpsApp({ metrics: platform.metrics, logger: platform.logger, ...checks });
  const server = createServer(app);
  await listen(server, platform.config.PORT, platform.config.PLATEN_HOST);
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
    problems: () => [],
    stuck: () => undefined,
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
}

/** What new work is refused with while nothing more can be kept. */
function storageRefusal(platform: Platform): PlatenError | undefined {
  const problem = platform.storageProblem();
  if (problem === undefined) return undefined;
  // What is wrong with which disk is for whoever runs the service, who is told at /readyz.
  return new PlatenError('UNAVAILABLE', 'The service has no room to keep more work at the moment.', {
    retryAfterSeconds: STORAGE_RETRY_S,
  });
}

/** Logs that new work is refused for want of room, and that it no longer is. */
function storageTeller({ logger, storageProblem }: Platform): () => void {
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
function watchLoad(platform: Platform): { refusal: () => PlatenError | undefined; stop: () => void } {
  const shedder = new LoadShedder(platform.config.PLATEN_MAX_LIVE_JOBS);
  const tellStorage = storageTeller(platform);
  const timer = setInterval(() => {
    tellStorage();
    platform.collections.jobs.estimatedDocumentCount().then(
      (count) => shedder.observe(count, platform.clock.now()),
      // The database is away; what needs it fails by itself.
      () => undefined,
    );
  }, COUNT_EVERY_MS);
  timer.unref();
  return {
    refusal: () => shedder.refusal(),
    stop: () => clearInterval(timer),
  };
}
