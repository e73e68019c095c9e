import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { type AutoOverage, NO_AUTO_OVERAGE } from '../../../../src/billing/blocks/auto-overage-port.ts';
import { DisableLinks } from '../../../../src/billing/blocks/disable-links.ts';
import { type Billing, type BillingConfig, openBilling } from '../../../../src/billing/open-billing.ts';
import type { ApiDeps } from '../../../../src/http/api-deps.ts';
import { createHttpApp } from '../../../../src/http/app.ts';
import { accountStreams, EventStreams } from '../../../../src/http/request/event-stream.ts';
import { createAddressPolicy } from '../../../../src/infra/egress/address-policy.ts';
import { checkCallbackUrl } from '../../../../src/infra/egress/callback-url.ts';
import { parseNetworks } from '../../../../src/infra/egress/networks.ts';
import type { PlatenError } from '../../../../src/infra/errors/registry.ts';
import { createFolderOutputStore } from '../../../../src/infra/outputs/folder.ts';
import { createGridFsOutputStore } from '../../../../src/infra/outputs/gridfs.ts';
import type { OutputStore } from '../../../../src/infra/outputs/output-store.ts';
import { type BodyBounds, BodyIntake } from '../../../../src/infra/overload/body-intake.ts';
import { ChangeGate } from '../../../../src/infra/overload/change-gate.ts';
import { createDownloads, type Downloads } from '../../../../src/infra/overload/downloads.ts';
import {
  RESPONSE_BOUNDS,
  type ResponseBounds,
  UnreadResponses,
} from '../../../../src/infra/overload/unread-responses.ts';
import { AdmissionQueue } from '../../../../src/infra/scheduling/admission-queue.ts';
import { ensureIndexes } from '../../../../src/infra/store/collection-spec.ts';
import { createMetrics, type Metrics } from '../../../../src/infra/telemetry/metrics.ts';
import { createPdfMerger } from '../../../../src/render/pdf/merge.ts';
import {
  type AccountServices,
  type AccountServicesConfig,
  createAccountServices,
} from '../../../../src/roles/account-services.ts';
import { AccountStore } from '../../../../src/tenants/accounts/account-store.ts';
import { openCountryDatabase } from '../../../../src/tenants/keys/country-database.ts';
import { KeyStore } from '../../../../src/tenants/keys/key-store.ts';
import { LastUse } from '../../../../src/tenants/keys/last-use.ts';
import type { KeyMode } from '../../../../src/tenants/keys/secret.ts';
import { MailOutbox } from '../../../../src/tenants/mail/outbox.ts';
import { DEFAULT_PLANS, type Plan } from '../../../../src/tenants/plans/plan.ts';
import { HeldPlans, type PlanSource } from '../../../../src/tenants/plans/plan-source.ts';
import { TemplateEditor } from '../../../../src/tenants/templates/template-editor.ts';
import { type TemplateBounds, TemplateStore } from '../../../../src/tenants/templates/template-store.ts';
import { groupOf } from '../../../../src/work/batches/batch.ts';
import { BatchFiles } from '../../../../src/work/batches/batch-files.ts';
import { SigningKeyService } from '../../../../src/work/callbacks/signing-key-service.ts';
import { DownloadLinks } from '../../../../src/work/jobs/submission/download-links.ts';
import { OutcomeWaiter } from '../../../../src/work/jobs/submission/outcome-waiter.ts';
import { RenderService } from '../../../../src/work/jobs/submission/render-service.ts';
import { TestClient } from '../../../support/client.ts';
import { type Domain, openDomain } from '../../../support/domain.ts';
import { type Reply, send } from '../../../support/send.ts';
import { sharedTemplateEngine } from '../../../support/template-engine.ts';
import { createTenant } from '../../../support/tenant.ts';
import { assertDeclared } from './declared.ts';
import { TestWorker } from './test-worker.ts';

const MIB = 1024 * 1024;

export interface TestApi {
  readonly url: string;
  readonly port: number;
  readonly domain: Domain;
  readonly worker: TestWorker;
  readonly outputs: OutputStore;
  /** The folder of its outputs; none for processes that share a database, and keep the outputs in it. */
  readonly outputFolder: string | undefined;
  readonly bodies: BodyIntake;
  readonly unread: UnreadResponses;
  readonly links: DownloadLinks;
  readonly templates: TemplateStore;
  readonly metrics: Metrics;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly lastUse: LastUse;
  readonly accountServices: AccountServices;
  readonly plans: PlanSource;
  readonly billing: Billing;
  readonly disableLinks: DisableLinks;
  /** The results of the readiness and liveness checks; a test changes them. */
  readonly state: ApiState;
  /** What its routes work with. */
  readonly deps: Omit<ApiDeps, 'forOperators'>;
  /** All logged lines. */
  readonly log: string[];
  newCaller(options?: { mode?: KeyMode; allowedIps?: string[] }): Promise<TestCaller>;
  close(): Promise<void>;
}

export interface ApiState {
  rejection: PlatenError | undefined;
  problems: string[];
  stuck: string | undefined;
}

/** The whole HTTP app on a database of its own, composed as in the API role; the test makes the PDFs of renders. */
export async function openApi(
  options: {
    plan?: Partial<Plan>;
    /** How long a request waits for its PDF, in milliseconds. Default: the most that may be configured. */
    syncWaitMs?: number;
    trustedProxies?: number;
    uri?: string;
    config?: Partial<AccountServicesConfig>;
    /** Whether live keys need a confirmed address. */
    confirmAddress?: 'optional' | 'required';
    /** The payment provider; without a key nothing is sold. */
    billing?: Partial<BillingConfig>;
    autoOverage?: AutoOverage;
    templateBounds?: TemplateBounds;
    /** Bounds of the bodies of requests. */
    bodyBounds?: Partial<BodyBounds>;
    /** Bounds of unread responses. */
    responseBounds?: Partial<ResponseBounds>;
    /** Bounds of concurrent downloads. */
    downloads?: Partial<Downloads>;
  } = {},
): Promise<TestApi> {
  const domain = await openDomain({
    // Tests send requests quickly; tests of rates set their own.
    plan: { requestsPerMinute: 100_000, ...options.plan },
    ...(options.uri !== undefined && { uri: options.uri }),
  });
  const { connection, clock, bus } = domain;
  const folder = options.uri === undefined ? await mkdtemp(join(tmpdir(), 'platen-http-')) : undefined;
  const outputs =
    folder === undefined ? createGridFsOutputStore(connection) : createFolderOutputStore(folder);
  const keys = new KeyStore(connection, clock);
  const accounts = new AccountStore(connection, clock);
  const templates = new TemplateStore(connection, clock, options.templateBounds);
  const log: string[] = [];
  const logger = pino({ level: 'debug' }, collect(log));
  const plans = new HeldPlans({
    plans: new Map(Object.entries({ ...DEFAULT_PLANS, professional: domain.plan })),
    pools: new Map(),
  });
  const accountServices = createAccountServices(
    connection,
    {
      accounts,
      keys,
      plans,
      clock,
      logger,
      config: {
        PLATEN_OIDC_ISSUER: undefined,
        PLATEN_OIDC_AUDIENCE: undefined,
        PLATEN_REGISTRATION: 'open',
        PLATEN_REGISTRATIONS_PER_ADDRESS: 10_000,
        PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT: 10,
        PLATEN_SIGN_IN_FAILURES_PER_ADDRESS: 100,
        ...options.config,
      },
    },
    { jobs: domain, batchStore: domain.batches.store, callbacks: domain.callbacks },
  );
  const lastUse = new LastUse({ keys, countries: await openCountryDatabase(), clock, logger });
  const metrics = createMetrics('api');
  const disableLinks = new DisableLinks(connection);
  const billing = openBilling({
    connection,
    clock,
    logger,
    metrics,
    plans,
    accounts,
    accountService: accountServices.accountService,
    audit: accountServices.audit,
    blockLedger: domain.blockLedger,
    outbox: new MailOutbox(connection, clock),
    config: {
      STRIPE_SECRET_KEY: undefined,
      STRIPE_WEBHOOK_SECRET: undefined,
      STRIPE_API_BASE: undefined,
      ...options.billing,
    },
    publicUrl: () => url,
  });
  const templateEngine = sharedTemplateEngine();
  await ensureIndexes(connection);
  const waiter = new OutcomeWaiter(bus);
  const batchWatch = new EventStreams();
  await bus.subscribeEvents('outcomes', ({ jobId }) => batchWatch.notify(groupOf(jobId)));
  const merger = createPdfMerger({ memoryBytes: 4096 * MIB, logger });
  const bodies = new BodyIntake({
    inAll: 128 * MIB,
    perOwner: 32 * MIB,
    leastRate: 8192,
    rateWindowMs: 5000,
    ...options.bodyBounds,
  });
  const unread = new UnreadResponses({ ...RESPONSE_BOUNDS, ...options.responseBounds });
  const worker = new TestWorker(domain, outputs, templateEngine);
  const links = new DownloadLinks('a secret for tests, long enough to be one');
  const state: ApiState = { rejection: undefined, problems: [], stuck: undefined };
  const callbackPolicy = createAddressPolicy({ allowedNetworks: parseNetworks(['127.9.9.0/24']) });
  const deps: TestApi['deps'] = {
    config: {
      PLATEN_HEADER_PREFIX: 'X-Service-',
      PLATEN_TRUSTED_PROXIES: options.trustedProxies ?? 0,
      PLATEN_REGISTRATION: options.config?.PLATEN_REGISTRATION ?? 'open',
      PLATEN_CONFIRM_ADDRESS: options.confirmAddress ?? 'optional',
    },
    changes: new ChangeGate({ problem: () => undefined, flush: async () => {} }),
    bodies,
    unread,
    admissionQueue: new AdmissionQueue(),
    renders: new RenderService({
      ...domain,
      outputs,
      waiter,
      syncWaitMs: options.syncWaitMs ?? 300_000,
    }),
    batches: domain.batches.service,
    batchMetrics: domain.batches.metrics,
    batchFiles: new BatchFiles(domain.batches.service, outputs, merger),
    batchWatch,
    accountWatch: accountStreams(),
    downloads: { ...createDownloads(), ...options.downloads },
    keys,
    accounts,
    templates,
    templateEditor: new TemplateEditor({
      store: templates,
      engine: templateEngine,
      audit: accountServices.audit,
      room: domain.stored,
    }),
    plans,
    links,
    publicUrl: () => url,
    deliveries: domain.callbacks.deliveries,
    stored: domain.stored,
    signingKeys: new SigningKeyService({
      keys: domain.callbacks.keys,
      accounts,
      audit: accountServices.audit,
    }),
    billing,
    checkCallbackUrl: (url) => checkCallbackUrl(url, callbackPolicy),
    autoOverage: options.autoOverage ?? billing.selling?.autoOverage ?? NO_AUTO_OVERAGE,
    disableLinks,
    metrics,
    logger,
    clock,
    readiness: async () => ({ ready: state.problems.length === 0, problems: state.problems }),
    liveness: () => (state.stuck === undefined ? { live: true } : { live: false, problem: state.stuck }),
    keyService: accountServices.keyService,
    signIn: accountServices.signIn,
    oidcSignIn: accountServices.oidcSignIn,
    recovery: accountServices.recovery,
    bearer: accountServices.bearer,
    tokens: accountServices.tokens,
    audit: accountServices.audit,
    lastUse,
    limiter: domain.limiter,
    idempotency: domain.idempotency,
    recorder: domain.recorder,
    usage: domain.usage,
    admission: () => state.rejection,
  };
  const server: Server = createServer(createHttpApp(deps));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  await worker.start();
  return {
    url,
    port,
    domain,
    worker,
    outputs,
    outputFolder: folder,
    bodies,
    unread,
    links,
    templates,
    metrics,
    accounts,
    keys,
    lastUse,
    accountServices,
    plans,
    billing,
    disableLinks,
    state,
    log,
    deps,
    async newCaller(options) {
      const { accountId, apiKeyId, secret } = await createTenant({ accounts, keys }, 'professional', options);
      return new TestCaller(url, accountId, apiKeyId, secret);
    },
    async close() {
      await worker.stop();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await waiter.close(0);
      await lastUse.flush();
      await merger.close();
      await domain.close();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

function collect(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
}

/** A caller over real HTTP; each response is checked against the declaration of its route. */
export class TestCaller {
  readonly url: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly secret: string;

  constructor(url: string, accountId: string, apiKeyId: string, secret: string) {
    this.url = url;
    this.accountId = accountId;
    this.apiKeyId = apiKeyId;
    this.secret = secret;
  }

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return callApi(this.url, method, path, body, { 'x-api-key': this.secret, ...headers });
  }

  /** The same caller at another process. */
  at(url: string): TestCaller {
    return new TestCaller(url, this.accountId, this.apiKeyId, this.secret);
  }

  get(path: string): Promise<Reply> {
    return this.call('GET', path);
  }

  render(body: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.call('POST', '/v1/pdf', body, headers);
  }

  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.call('POST', path, body, headers);
  }

  delete(path: string): Promise<Reply> {
    return this.call('DELETE', path);
  }

  /** A job that has completed. @returns its id. */
  async completed(body: Record<string, unknown> = {}): Promise<string> {
    const response = await this.render({ html: '<p>x</p>', ...body });
    if (response.status === 200) return response.headers.get('x-service-job-id')!;
    if (response.status !== 202) throw new Error(`not completed: ${response.status}`);
    // On a busy machine the sync wait may end before the render, which continues.
    const { jobId, status } = await new TestClient(this.url, this.secret).end(response.json.jobId);
    if (status !== 'completed') throw new Error(`not completed: ${status}`);
    return jobId;
  }
}

/** Sends a request, and checks the response against the declaration of its route. */
export async function callApi(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await send(url, method, path, body, headers);
  if (method !== 'HEAD') assertDeclared(method, path, response);
  return response;
}
