import type { AccessTokenStore } from '../accounts/access-token-store.ts';
import type { AccountRecovery } from '../accounts/account-recovery.ts';
import type { AccountReader } from '../accounts/account-store.ts';
import type { BearerTokens } from '../accounts/bearer.ts';
import type { OidcSignIn } from '../accounts/oidc-sign-in.ts';
import type { SignIn } from '../accounts/sign-in.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { BatchFiles } from '../batches/batch-files.ts';
import type { BatchMetrics } from '../batches/batch-metrics.ts';
import type { BatchService } from '../batches/batch-service.ts';
import type { AutoOverage } from '../billing/auto-overage.ts';
import type { DisableLinks } from '../billing/disable-links.ts';
import type { Billing } from '../billing/open-billing.ts';
import type { DeliveryStore } from '../callbacks/delivery-store.ts';
import type { SigningKeyService } from '../callbacks/signing-key-service.ts';
import type { BrowserStatus } from '../chromium/renderer.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { PlatenError } from '../errors/registry.ts';
import type { StoredBytes } from '../jobs/ledger/stored-bytes.ts';
import type { DownloadLinks } from '../jobs/submission/download-links.ts';
import type { RenderService } from '../jobs/submission/render-service.ts';
import type { KeyService } from '../keys/key-service.ts';
import type { KeyReader } from '../keys/key-store.ts';
import type { LastUse } from '../keys/last-use.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import type { BodyIntake } from '../overload/body-intake.ts';
import type { ChangeGate } from '../overload/change-gate.ts';
import type { Downloads } from '../overload/downloads.ts';
import type { UnreadResponses } from '../overload/unread-responses.ts';
import type { Plan } from '../plans/plan.ts';
import type { PlanSource } from '../plans/plan-source.ts';
import type { AdmissionQueue } from '../scheduling/admission.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { TemplateEditor } from '../templates/template-editor.ts';
import type { TemplateReader } from '../templates/template-store.ts';
import type { RequestRecorder } from '../usage/request-recorder.ts';
import type { UsageReports } from '../usage/usage-reports.ts';
import type { EventStreams } from './event-stream.ts';
import type { IdempotencyStore } from './idempotency-store.ts';

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
  readonly metrics: Metrics;
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

/** Dependencies of the routes of the API. */
export interface ApiDeps extends OpsDeps {
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
  readonly audit: Pick<AuditLog, 'list'>;
  readonly lastUse: LastUse;
  readonly templates: TemplateReader;
  readonly templateEditor: TemplateEditor;
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
  /** The stored bytes of accounts. */
  readonly stored: Pick<StoredBytes, 'take'>;
  /** The keys that sign callbacks. */
  readonly signingKeys: SigningKeyService;
  /** Checks the address of a callback before the work is accepted; throws the error for the caller. */
  readonly checkCallbackUrl: (url: string) => void;
  /** Checks a source URL before the job is accepted; throws the error for the caller. */
  readonly checkUrl?: (url: string, name?: string) => void;
}
