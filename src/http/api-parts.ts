import type { AccountReader } from '../accounts/account-store.ts';
import type { BearerTokens } from '../accounts/bearer.ts';
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
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import type { KeyService } from '../keys/key-service.ts';
import type { KeyReader } from '../keys/key-store.ts';
import type { LastUse } from '../keys/last-use.ts';
import type { AdmissionTurns } from '../limits/admission-turns.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import type { DownloadLinks } from '../orders/download-links.ts';
import type { RenderService } from '../orders/render-service.ts';
import type { Plan } from '../plans/plan.ts';
import type { PlanSource } from '../plans/plan-source.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { TemplateEditor } from '../templates/template-editor.ts';
import type { TemplateReader } from '../templates/template-store.ts';
import type { RequestRecorder } from '../usage/request-recorder.ts';
import type { UsageReports } from '../usage/usage-reports.ts';
import type { BodyIntake } from './body-intake.ts';
import type { Downloads } from './downloads.ts';
import type { EventStreams } from './event-stream.ts';
import type { UnreadAnswers } from './unread-answers.ts';

export interface Readiness {
  readonly ready: boolean;
  readonly problems: string[];
  /** What the process can do without for a while, and has not at present. */
  readonly lacks?: string[];
  /** Of a process that renders. */
  readonly browser?: BrowserStatus;
}

/** What the routes of every role work with. */
export interface OpsParts {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Whether the process can take work, and what keeps it from it. */
  readonly readiness: () => Promise<Readiness>;
  /** Whether the process still makes progress. */
  readonly liveness: () => { live: boolean; problem?: string };
}

/** What the routes of the API work with. */
export interface ApiParts extends OpsParts {
  readonly config: Pick<Config, 'PLATEN_HEADER_PREFIX' | 'PLATEN_TRUSTED_PROXIES'>;
  /** Takes in the bodies of requests. */
  readonly bodies: BodyIntake;
  /** Bounds the answers that wait to be read. */
  readonly answers: UnreadAnswers;
  /** Has accounts take turns with their requests for work. */
  readonly turns: AdmissionTurns;
  readonly renders: RenderService;
  readonly batches: BatchService;
  readonly batchFiles: BatchFiles;
  readonly batchMetrics: BatchMetrics;
  /** Follows batches for those who ask for events. */
  readonly batchWatch: EventStreams;
  readonly downloads: Downloads;
  readonly keys: KeyReader;
  readonly keyService: KeyService;
  readonly accounts: AccountReader;
  readonly signIn: SignIn;
  readonly bearer: BearerTokens;
  readonly audit: Pick<AuditLog, 'list'>;
  readonly lastUse: LastUse;
  readonly templates: TemplateReader;
  readonly templateEditor: TemplateEditor;
  readonly plans: PlanSource;
  readonly links: DownloadLinks;
  /** Absolute links start with it; known once the server listens. */
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly idempotency: IdempotencyStore;
  readonly recorder: RequestRecorder;
  readonly usage: UsageReports;
  /** Why no new work of a plan is taken at the moment, whoever asks for it. */
  readonly admission: (plan: Plan) => PlatenError | undefined;
  readonly billing: Billing;
  readonly autoOverage: AutoOverage;
  /** The links of mails that turn it off. */
  readonly disableLinks: DisableLinks;
  /** Callbacks that were ordered. */
  readonly deliveries: DeliveryStore;
  /** The keys that sign them. */
  readonly signingKeys: SigningKeyService;
  /** Checks where a callback is to go before the work is accepted; throws what the caller is told. */
  readonly checkCallbackUrl: (url: string) => void;
  /** Checks a source URL before the job is accepted; throws what the caller is told. */
  readonly checkUrl?: (url: string) => void;
}
