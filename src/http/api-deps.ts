import type { BillingMetrics } from '../billing/billing-metrics.ts';
import type { AutoOverage } from '../billing/blocks/auto-overage-port.ts';
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
import type { PdfFinisher } from '../render/pdf/finish.ts';
import type { BrowserStatus } from '../render/renderer.ts';
import type { AccountReader } from '../tenants/accounts/account-store.ts';
import type { KeyReader } from '../tenants/keys/key-store.ts';
import type { LastUse } from '../tenants/keys/last-use.ts';
import type { Tenants } from '../tenants/open-tenants.ts';
import type { Plan } from '../tenants/plans/plan.ts';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import type { TemplateEditor } from '../tenants/templates/template-editor.ts';
import type { TemplateReader } from '../tenants/templates/template-store.ts';
import type { Usage } from '../tenants/usage/open-usage.ts';
import type { AlertReports } from '../work/alerts/alert-reports.ts';
import type { BatchFiles } from '../work/batches/batch-files.ts';
import type { SigningKeyService } from '../work/callbacks/signing-key-service.ts';
import type { DeliveredOutputs } from '../work/jobs/delivered-outputs.ts';
import type { DownloadLinks } from '../work/jobs/submission/download-links.ts';
import type { RenderService } from '../work/jobs/submission/render-service.ts';
import type { SharedLinks } from '../work/jobs/submission/shared-links.ts';
import type { Work } from '../work/open-work.ts';
import type { SealKeys } from '../work/pools/seal-keys.ts';
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

type Domains = ReturnType<Tenants['openDomains']>;

/** Dependencies of the routes of the API. */
export interface ApiDeps
  extends OpsDeps,
    Pick<
      Tenants,
      | 'access'
      | 'signIn'
      | 'secondFactors'
      | 'passkeys'
      | 'team'
      | 'oidcSignIn'
      | 'recovery'
      | 'bearer'
      | 'keyService'
      | 'limiter'
      | 'notifications'
    >,
    Domains,
    Pick<Work['jobs'], 'idempotency'>,
    Pick<Work['callbacks'], 'deliveries' | 'uploads'>,
    Pick<Usage, 'recorder'>,
    Pick<Billing, 'disableLinks'> {
  readonly metrics: OpsDeps['metrics'] & BillingMetrics;
  readonly config: Pick<
    Config,
    'PLATEN_HEADER_PREFIX' | 'PLATEN_TRUSTED_PROXIES' | 'PLATEN_REGISTRATION' | 'PLATEN_CONFIRM_ADDRESS'
  >;
  /** Rejects changes that could not be kept, and confirms the others. */
  readonly changes: ChangeGate;
  readonly bodies: BodyIntake;
  /** Bounds the responses that callers have not read yet. */
  readonly unread: UnreadResponses;
  /** Decides which request for work is admitted next. */
  readonly admissionQueue: AdmissionQueue;
  readonly renders: RenderService;
  readonly delivered: Pick<DeliveredOutputs, 'delete'>;
  /** Looks at PDFs that callers have sent. */
  readonly validator: Pick<PdfFinisher, 'validate'>;
  /** Records requests for work. Absent: nothing is traced. */
  readonly tracing?: Tracing;
  readonly batches: Work['batches']['service'];
  readonly sourceFiles: Work['batches']['files'];
  readonly batchFiles: BatchFiles;
  readonly batchMetrics: Work['batches']['metrics'];
  readonly batchWatch: EventStreams;
  readonly accountWatch: EventStreams;
  readonly downloads: Downloads;
  readonly keys: KeyReader;
  readonly accounts: AccountReader;
  readonly accountService: Pick<
    Tenants['accountService'],
    'rename' | 'setRequiresSecondFactor' | 'setKeepsRequestDetails'
  >;
  readonly tokens: Pick<Tenants['tokens'], 'sessions'>;
  readonly audit: Pick<Tenants['audit'], 'list' | 'record'>;
  readonly lastUse: LastUse;
  readonly templates: TemplateReader;
  readonly templateEditor: TemplateEditor;
  readonly einvoices: Pick<EinvoiceChecker, 'xmlOf'>;
  /** The keys of the operator that accounts may seal with. */
  readonly sealKeys: Pick<SealKeys, 'mayHave'>;
  readonly plans: PlanSource;
  readonly links: DownloadLinks;
  /** Those of them that are given to others, and can be revoked. */
  readonly sharedLinks: SharedLinks;
  /** The beginning of absolute links; known once the server listens. */
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly usage: Usage['reports'];
  /** The error for new work of a plan at the moment; undefined while new work is accepted. */
  readonly admission: (plan: Plan) => PlatenError | undefined;
  readonly billing: Billing;
  readonly autoOverage: AutoOverage;
  readonly alertReports: AlertReports;
  /** The stored bytes of accounts. */
  readonly stored: Pick<Work['jobs']['stored'], 'take'>;
  readonly signingKeys: SigningKeyService;
  readonly documentation: Documentation;
  /** Checks the address of a callback before the work is accepted; throws the error for the caller. */
  readonly checkCallbackUrl: (url: string, field?: string) => void;
  /** Checks a source URL before the job is accepted; throws the error for the caller. */
  readonly checkUrl?: (url: string, name?: string) => void;
}
