import type { BillingMetrics } from '../billing/billing-metrics.ts';
import type { AutoOverage } from '../billing/blocks/auto-overage-port.ts';
import type { DisableLinks } from '../billing/blocks/disable-links.ts';
import type { Billing } from '../billing/open-billing.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../infra/clock.ts';
import type { PlatenError } from '../infra/errors/registry.ts';
import type { BodyIntake } from '../infra/overload/body-intake.ts';
import type { ChangeGate } from '../infra/overload/change-gate.ts';
import type { Downloads } from '../infra/overload/downloads.ts';
import type { UnreadResponses } from '../infra/overload/unread-responses.ts';
import type { AdmissionQueue } from '../infra/scheduling/admission-queue.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import type { ReadableMetrics } from '../infra/telemetry/metrics.ts';
import type { Tracing } from '../infra/tracing/tracing.ts';
import type { EinvoiceChecker } from '../render/einvoice/einvoice-checker.ts';
import type { BrowserStatus } from '../render/renderer.ts';
import type { AccessTokenStore } from '../tenants/accounts/access-token-store.ts';
import type { AccountRecovery } from '../tenants/accounts/account-recovery.ts';
import type { AccountReader } from '../tenants/accounts/account-store.ts';
import type { BearerTokens } from '../tenants/accounts/bearer.ts';
import type { OidcSignIn } from '../tenants/accounts/oidc-sign-in.ts';
import type { SignIn } from '../tenants/accounts/sign-in.ts';
import type { AuditLog } from '../tenants/audit/audit-log.ts';
import type { KeyService } from '../tenants/keys/key-service.ts';
import type { KeyReader } from '../tenants/keys/key-store.ts';
import type { LastUse } from '../tenants/keys/last-use.ts';
import type { RateLimiter } from '../tenants/limits/rate-limiter.ts';
import type { Plan } from '../tenants/plans/plan.ts';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import type { TemplateEditor } from '../tenants/templates/template-editor.ts';
import type { TemplateReader } from '../tenants/templates/template-store.ts';
import type { RequestRecorder } from '../tenants/usage/request-recorder.ts';
import type { UsageReports } from '../tenants/usage/usage-reports.ts';
import type { BatchFiles } from '../work/batches/batch-files.ts';
import type { BatchMetrics } from '../work/batches/batch-metrics.ts';
import type { BatchService } from '../work/batches/batch-service.ts';
import type { DeliveryStore } from '../work/callbacks/delivery-store.ts';
import type { SigningKeyService } from '../work/callbacks/signing-key-service.ts';
import type { IdempotencyStore } from '../work/jobs/idempotency-store.ts';
import type { StoredBytes } from '../work/jobs/ledger/stored-bytes.ts';
import type { DownloadLinks } from '../work/jobs/submission/download-links.ts';
import type { RenderService } from '../work/jobs/submission/render-service.ts';
import type { EventStreams } from './request/event-stream.ts';
import type { HttpMetrics } from './request/http-metrics.ts';
import type { FileBody } from './request/route.ts';

export interface Readiness {
  readonly ready: boolean;
  readonly problems: string[];
  /** Missing dependencies that the process can do without for a while. */
  readonly lacks?: string[];
  /** Present in a process that renders. */
  readonly browser?: BrowserStatus;
}

/** Dependencies of the routes of every role. */
export interface OpsDeps {
  readonly metrics: ReadableMetrics & HttpMetrics;
  readonly logger: Logger;
  /** Whether the process can accept work, and what prevents it. */
  readonly readiness: () => Promise<Readiness>;
  /** Whether the routes are on a port that operators alone reach, or on the only port that there is. */
  readonly forOperators: boolean;
  /** The version of the browser that the process renders with, once there is one. */
  readonly browserVersion?: () => string | undefined;
  /** Whether the process still makes progress. */
  readonly liveness: () => { live: boolean; problem?: string };
}

/** The files below /docs. */
export interface Documentation {
  /** @returns undefined when there is no such file. */
  find(
    path: string,
    acceptsGzip: () => boolean,
  ): Promise<
    { readonly body: FileBody | Buffer; readonly headers: Readonly<Record<string, string>> } | undefined
  >;
}

/** Dependencies of the routes of the API. */
export interface ApiDeps extends OpsDeps {
  readonly metrics: OpsDeps['metrics'] & BillingMetrics;
  readonly config: Pick<
    Config,
    'PLATEN_HEADER_PREFIX' | 'PLATEN_TRUSTED_PROXIES' | 'PLATEN_REGISTRATION' | 'PLATEN_CONFIRM_ADDRESS'
  >;
  /** Rejects changes that could not be kept, and confirms the others. */
  readonly changes: ChangeGate;
  /** Receives the bodies of requests. */
  readonly bodies: BodyIntake;
  /** Bounds the responses that callers have not read yet. */
  readonly unread: UnreadResponses;
  /** Decides which request for work is admitted next. */
  readonly admissionQueue: AdmissionQueue;
  readonly renders: RenderService;
  /** Records requests for work. Absent: nothing is traced. */
  readonly tracing?: Tracing;
  readonly batches: BatchService;
  readonly batchFiles: BatchFiles;
  readonly batchMetrics: BatchMetrics;
  /** Event streams of batches. */
  readonly batchWatch: EventStreams;
  /** Event streams of accounts' jobs, for the dashboard. */
  readonly accountWatch: EventStreams;
  readonly downloads: Downloads;
  readonly keys: KeyReader;
  readonly keyService: KeyService;
  readonly accounts: AccountReader;
  readonly signIn: SignIn;
  /** Undefined when no issuer is configured to sign in at. */
  readonly oidcSignIn: OidcSignIn | undefined;
  readonly recovery: AccountRecovery;
  readonly bearer: BearerTokens;
  readonly tokens: Pick<AccessTokenStore, 'sessions'>;
  readonly audit: Pick<AuditLog, 'list' | 'record'>;
  readonly lastUse: LastUse;
  readonly templates: TemplateReader;
  readonly templateEditor: TemplateEditor;
  /** Writes and checks e-invoices. */
  readonly einvoices: Pick<EinvoiceChecker, 'xmlOf'>;
  readonly plans: PlanSource;
  readonly links: DownloadLinks;
  /** The beginning of absolute links; known once the server listens. */
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly idempotency: IdempotencyStore;
  readonly recorder: RequestRecorder;
  readonly usage: UsageReports;
  /** The error for new work of a plan at the moment; undefined while new work is accepted. */
  readonly admission: (plan: Plan) => PlatenError | undefined;
  readonly billing: Billing;
  readonly autoOverage: AutoOverage;
  /** The links in mails that turn auto overage off. */
  readonly disableLinks: DisableLinks;
  /** The callbacks of accounts. */
  readonly deliveries: DeliveryStore;
  readonly uploads: DeliveryStore;
  /** The stored bytes of accounts. */
  readonly stored: Pick<StoredBytes, 'take'>;
  /** The keys that sign callbacks. */
  readonly signingKeys: SigningKeyService;
  /** What is below /docs. */
  readonly documentation: Documentation;
  /** Checks the address of a callback before the work is accepted; throws the error for the caller. */
  readonly checkCallbackUrl: (url: string, field?: string) => void;
  /** Checks a source URL before the job is accepted; throws the error for the caller. */
  readonly checkUrl?: (url: string, name?: string) => void;
}
