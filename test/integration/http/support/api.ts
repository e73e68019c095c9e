import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { AutoOverage } from '../../../../src/billing/blocks/auto-overage-port.ts';
import { type Config, loadConfig } from '../../../../src/config/config.ts';
import { createHttpApp } from '../../../../src/http/app.ts';
import { openApi as openApiOf } from '../../../../src/http/open-api.ts';
import type { DocumentationFiles } from '../../../../src/http/site/documentation-files.ts';
import { createAddressPolicy } from '../../../../src/infra/egress/address-policy.ts';
import { parseNetworks } from '../../../../src/infra/egress/networks.ts';
import type { LookupText } from '../../../../src/infra/egress/text-records.ts';
import type { PlatenError } from '../../../../src/infra/errors/registry.ts';
import { createFolderOutputStore } from '../../../../src/infra/outputs/folder.ts';
import { createGridFsOutputStore } from '../../../../src/infra/outputs/gridfs.ts';
import type { OutputStore } from '../../../../src/infra/outputs/output-store.ts';
import { type BodyBounds, BodyIntake } from '../../../../src/infra/overload/body-intake.ts';
import type { Downloads } from '../../../../src/infra/overload/downloads.ts';
import {
  RESPONSE_BOUNDS,
  type ResponseBounds,
  UnreadResponses,
} from '../../../../src/infra/overload/unread-responses.ts';
import { NO_TRACING } from '../../../../src/infra/tracing/tracing.ts';
import { createMetrics } from '../../../../src/roles/metrics.ts';
import { openServices } from '../../../../src/roles/services.ts';
import { AccountPlans } from '../../../../src/tenants/accounts/account-plans.ts';
import { AccountStore } from '../../../../src/tenants/accounts/account-store.ts';
import type { KeyMode } from '../../../../src/tenants/keys/secret.ts';
import { DEFAULT_PLANS, type Plan } from '../../../../src/tenants/plans/plan.ts';
import { HeldPlans } from '../../../../src/tenants/plans/plan-source.ts';
import type { TemplateBounds } from '../../../../src/tenants/templates/template-store.ts';
import { SERVER } from '../../../support/certificates.ts';
import { TestClient } from '../../../support/client.ts';
import { openDomain } from '../../../support/domain.ts';
import { type Reply, send } from '../../../support/send.ts';
import { sharedTemplateEngine } from '../../../support/template-engine.ts';
import { createTenant } from '../../../support/tenant.ts';
import { used } from '../../../support/used.ts';
import { assertDeclared } from './declared.ts';
import { TestWorker } from './test-worker.ts';

const MIB = 1024 * 1024;
const ENVIRONMENT = {
  PLATEN_ALLOWED_PRIVATE_NETWORKS: '127.9.9.0/24',
  PLATEN_REGISTRATIONS_PER_ADDRESS: '10000',
  PLATEN_SYNC_WAIT_MS: '300000',
};

/** Of the service, in place of PLATEN_SECRET. */
export const SECRET = 'a secret for tests, long enough to be one';

export type TestApi = Awaited<ReturnType<typeof openApi>>;

/** What an API says of its health and room; a test changes it. */
interface ApiState {
  rejection: PlatenError | undefined;
  problems: string[];
  stuck: string | undefined;
}

interface TestApiOptions {
  readonly plan?: Partial<Plan>;
  /** How long a request waits for its PDF, in milliseconds. Default: the most that may be configured. */
  readonly syncWaitMs?: number;
  readonly trustedProxies?: number;
  readonly uri?: string;
  readonly config?: Partial<Config>;
  /** Whether live keys need a confirmed address. */
  readonly confirmAddress?: 'optional' | 'required';
  /** The payment provider; without a key nothing is sold. */
  readonly billing?: Partial<Config>;
  readonly autoOverage?: AutoOverage;
  readonly templateBounds?: TemplateBounds;
  /** Bounds of the bodies of requests. */
  readonly bodyBounds?: Partial<BodyBounds>;
  /** Bounds of unread responses. */
  readonly responseBounds?: Partial<ResponseBounds>;
  /** Bounds of concurrent downloads. */
  readonly downloads?: Partial<Downloads>;
  /** Where outputs are kept. Default: a folder of its own, or the database with `uri`. */
  readonly outputs?: OutputStore;
  readonly documentation?: DocumentationFiles;
  /** The TXT records that there are. Default: none. */
  readonly lookupText?: LookupText;
}

/** The whole HTTP app on a database of its own, opened as by the API role; the test makes the PDFs of renders. */
export async function openApi(options: TestApiOptions = {}) {
  const domain = await openDomain({
    // Tests send requests quickly; tests of rates set their own.
    plan: { requestsPerMinute: 100_000, ...options.plan },
    ...(options.uri !== undefined && { uri: options.uri }),
  });
  const { connection, clock } = domain;
  /** The folder of its outputs; none for processes that share a database, and keep the outputs in it. */
  const outputFolder = options.uri === undefined ? await mkdtemp(join(tmpdir(), 'platen-http-')) : undefined;
  const outputs =
    options.outputs ??
    (outputFolder === undefined
      ? createGridFsOutputStore(connection)
      : createFolderOutputStore(outputFolder));
  const accounts = new AccountStore(connection, clock);
  /** All logged lines. */
  const log: string[] = [];
  const plans = new HeldPlans({
    plans: new Map(Object.entries({ ...DEFAULT_PLANS, professional: domain.plan })),
    pools: new Map(),
  });
  const {
    syncWaitMs = 300_000,
    trustedProxies: PLATEN_TRUSTED_PROXIES = 0,
    confirmAddress: PLATEN_CONFIRM_ADDRESS = 'optional',
  } = options;
  const address: { publicUrl: string | undefined } = { publicUrl: undefined };
  const core = {
    ...domain,
    ...{ accounts, plans, outputs, accountPlans: new AccountPlans(accounts, plans) },
    role: 'api',
    config: {
      ...loadConfig('standalone', ENVIRONMENT),
      ...{ PLATEN_SYNC_WAIT_MS: syncWaitMs, PLATEN_TRUSTED_PROXIES, PLATEN_CONFIRM_ADDRESS },
      ...options.config,
      ...options.billing,
    },
    logger: pino({ level: 'debug' }, collect(log)),
    metrics: createMetrics('api'),
    tracing: NO_TRACING,
    address,
    storageProblem: () => undefined,
    changes: { problem: () => undefined, flush: async () => {} },
    templateBounds: options.templateBounds,
  } as const;
  const services = await openServices(core);
  const { tenants, billing } = services;
  const state: ApiState = { rejection: undefined, problems: [], stuck: undefined };
  const api = await openApiOf(core, {
    ...services,
    // Issuers of customers are servers of the tests.
    wayOut: {
      policy: createAddressPolicy({ allowedNetworks: parseNetworks(['127.0.0.1/32']) }),
      ca: SERVER.cert,
    },
    lookupText: options.lookupText ?? (async () => []),
    templateEngine: sharedTemplateEngine(),
    secret: SECRET,
    checks: {
      readiness: async () => ({ ready: state.problems.length === 0, problems: state.problems }),
      liveness: () => (state.stuck === undefined ? { live: true } : { live: false, problem: state.stuck }),
    },
  });
  const deps = {
    ...api.deps,
    bodies: new BodyIntake({
      ...{ inAll: 128 * MIB, perOwner: 32 * MIB, leastRate: 8192, rateWindowMs: 5000 },
      ...options.bodyBounds,
    }),
    unread: new UnreadResponses({ ...RESPONSE_BOUNDS, ...options.responseBounds }),
    downloads: { ...api.deps.downloads, ...options.downloads },
    autoOverage: options.autoOverage ?? api.deps.autoOverage,
    documentation: options.documentation ?? api.deps.documentation,
    admission: () => state.rejection,
  };
  const worker = new TestWorker(domain, outputs);
  const server = createServer(createHttpApp(deps));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  address.publicUrl = url;
  await worker.start();
  return {
    ...{ url, port, domain, core, worker, outputs, outputFolder, accounts, plans, state, log },
    ...{ services, tenants, billing, metrics: core.metrics, disableLinks: billing.disableLinks },
    ...{ keys: tenants.keys, templates: tenants.templates },
    ...{ bodies: deps.bodies, unread: deps.unread, links: deps.links, lastUse: deps.lastUse },
    /** What its routes work with. */
    deps,
    async newCaller(of?: { mode?: KeyMode; allowedIps?: string[] }): Promise<TestCaller> {
      const { accountId, apiKeyId, secret } = await createTenant(tenants, 'professional', of);
      return new TestCaller(url, accountId, apiKeyId, secret);
    },
    async close(): Promise<void> {
      await worker.stop();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await api.endStreams();
      await api.endWaiting(0);
      await api.close();
      await domain.close();
      if (outputFolder !== undefined) await rm(outputFolder, { recursive: true, force: true });
    },
  };
}

/** An API for the tests of one `describe`, there from its `before` on; with `each`, one for each test. */
export function useApi(options?: TestApiOptions, each?: 'each'): TestApi {
  return used(() => openApi(options), each);
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
