import { NO_AUTO_OVERAGE } from '../billing/blocks/auto-overage-port.ts';
import type { Billing } from '../billing/open-billing.ts';
import type { Config, JobRole } from '../config/config.ts';
import type { Core } from '../infra/core.ts';
import { createAddressPolicy } from '../infra/egress/address-policy.ts';
import { checkCallbackUrl } from '../infra/egress/callback-url.ts';
import { createGuardedAgent } from '../infra/egress/guarded-agent.ts';
import { createGuardedFetch } from '../infra/egress/guarded-fetch.ts';
import { parseNetworks } from '../infra/egress/networks.ts';
import { checkSourceUrl } from '../infra/egress/source-url.ts';
import { type LookupText, textLookup } from '../infra/egress/text-records.ts';
import type { WayOutOptions } from '../infra/egress/way-out.ts';
import { coresOfMachine } from '../infra/machine/machine-cores.ts';
import { machineMemory } from '../infra/machine/machine-memory.ts';
import { OfferTaker } from '../infra/outputs/offers/take-offer.ts';
import { BodyIntake } from '../infra/overload/body-intake.ts';
import { ChangeGate } from '../infra/overload/change-gate.ts';
import { createDownloads } from '../infra/overload/downloads.ts';
import { RESPONSE_BOUNDS, UnreadResponses } from '../infra/overload/unread-responses.ts';
import { WorkGate } from '../infra/overload/work-gate.ts';
import { AdmissionQueue } from '../infra/scheduling/admission-queue.ts';
import { createEinvoiceChecker } from '../render/einvoice/einvoice-checker.ts';
import { createPdfFinisher } from '../render/pdf/finish.ts';
import { createPdfMerger } from '../render/pdf/merge.ts';
import { listAssignedKeys } from '../render/seal/assigned-keys.ts';
import { ISSUER_TIMEOUT_MS } from '../tenants/accounts/oidc-issuer.ts';
import { openCountryDatabase } from '../tenants/keys/country-database.ts';
import { LastUse } from '../tenants/keys/last-use.ts';
import type { Tenants } from '../tenants/open-tenants.ts';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import type { TemplateEngine } from '../tenants/templates/engine/template-engine.ts';
import { TemplateEditor } from '../tenants/templates/template-editor.ts';
import type { Usage } from '../tenants/usage/open-usage.ts';
import { AlertReports } from '../work/alerts/alert-reports.ts';
import { BatchFiles } from '../work/batches/batch-files.ts';
import { SigningKeyService } from '../work/callbacks/signing-key-service.ts';
import { DeliveredOutputs } from '../work/jobs/delivered-outputs.ts';
import { DownloadLinks } from '../work/jobs/submission/download-links.ts';
import { OutcomeWaiter } from '../work/jobs/submission/outcome-waiter.ts';
import { RenderService } from '../work/jobs/submission/render-service.ts';
import { SharedLinks } from '../work/jobs/submission/shared-links.ts';
import type { Work } from '../work/open-work.ts';
import { SealKeys } from '../work/pools/seal-keys.ts';
import type { ApiDeps, OpsDeps } from './api-deps.ts';
import { accountStreams, EventStreams } from './request/event-stream.ts';
import { DocumentationFiles } from './site/documentation-files.ts';

/**
 * The least time on one core between two background submissions of one account while callers of others wait: 20 per
 * second and core, where admitting one takes some 5 ms.
 */
const GAP_CORE_MS = 50;
/** The window in which a body has to keep its rate: longer than a network takes to recover from a lost packet. */
const UPLOAD_WINDOW_MS = 5000;

/** The most bytes of a document of an issuer: metadata, keys or tokens. */
const MAX_ISSUER_BYTES = 262_144;

/** One for accounts whose PDFs take long, and one for all others; each is started when it is needed. */
const VALIDATOR_PROCESSES = 2;

/** What an API is opened on. */
export interface ApiCore
  extends Omit<Core, 'connection'>,
    Pick<Work, 'jobs' | 'batches' | 'callbacks' | 'alerts' | 'registry'> {
  readonly role: JobRole;
  readonly metrics: ApiDeps['metrics'];
  readonly config: Config;
  readonly plans: PlanSource;
  readonly usage: Usage;
  /** The start of absolute addresses, once it is known. */
  readonly address: { readonly publicUrl: string | undefined };
  /** Why nothing more can be stored at present; undefined when it can. */
  readonly storageProblem: () => string | undefined;
  /** Whether changes can be kept. */
  readonly changes: ConstructorParameters<typeof ChangeGate>[0];
}

interface ApiServices {
  readonly tenants: Tenants;
  readonly billing: Billing;
  /** Signs download links. */
  readonly secret: string;
  /** What connections to issuers of customers are held to. */
  readonly wayOut: WayOutOptions & { readonly ca?: string };
  /** Default: asks the machine's name servers. */
  readonly lookupText?: LookupText;
  /** Checks saved templates and renders previews; the caller closes it. */
  readonly templateEngine: TemplateEngine;
  /** The health of all components of the process together. */
  readonly checks: Pick<OpsDeps, 'readiness' | 'liveness' | 'browserVersion'>;
}

/** An API that does not listen yet. */
export interface Api {
  readonly deps: Omit<ApiDeps, 'forOperators'>;
  /** Ends what has no end of its own: streams of events. */
  endStreams(): Promise<void>;
  /** Resolves when no caller waits for a job any more; after `graceMs` milliseconds the last ones are told to go on. */
  endWaiting(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens what the routes of the API work with. To be opened once a process. */
export async function openApi(core: ApiCore, services: ApiServices): Promise<Api> {
  const { config, logger, clock, bus, outputs, plans, usage, jobs, batches, callbacks, address } = core;
  const { tenants, billing, templateEngine, lookupText = textLookup() } = services;
  const issuers = createGuardedAgent({ ...services.wayOut, connectTimeoutMs: ISSUER_TIMEOUT_MS });
  const { audit, accounts } = tenants;
  const taker = new OfferTaker();
  const waiter = new OutcomeWaiter(bus, (offer) => taker.take(offer));
  const lastUse = new LastUse({ ...tenants, countries: await openCountryDatabase(), clock, logger });
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
  const links = new DownloadLinks(services.secret, config.PLATEN_SECRET_PREVIOUS);
  const merger = createPdfMerger({ memoryBytes: machineMemory().total, logger });
  const einvoices = createEinvoiceChecker({ logger });
  const validator = createPdfFinisher({
    processes: VALIDATOR_PROCESSES,
    memoryBytes: machineMemory().total,
    logger,
  });
  const delivered = new DeliveredOutputs({ ...jobs, outputs, logger });
  return {
    deps: {
      ...tenants,
      ...tenants.openDomains({ fetch: createGuardedFetch(issuers, MAX_ISSUER_BYTES), lookupText }),
      ...services.checks,
      ...{ config, logger, clock, metrics: core.metrics, tracing: core.tracing, plans },
      ...{ lastUse, batchWatch, accountWatch },
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
      downloads: createDownloads(),
      admission: (plan) => gate.rejection(plan),
      renders: new RenderService({
        ...{ ...jobs, outputs, waiter, clock },
        syncWaitMs: config.PLATEN_SYNC_WAIT_MS,
      }),
      delivered,
      idempotency: jobs.idempotency,
      stored: jobs.stored,
      batches: batches.service,
      sourceFiles: batches.files,
      batchMetrics: batches.metrics,
      batchFiles: new BatchFiles(batches.service, outputs, merger),
      templateEditor: new TemplateEditor({
        ...{ store: tenants.templates, engine: templateEngine, audit, room: jobs.stored },
      }),
      einvoices,
      validator,
      // Standalone is the only worker of its jobs, and does not report itself.
      sealKeys: new SealKeys(
        core.role === 'standalone'
          ? () => listAssignedKeys(config.PLATEN_SEAL_KEYS_DIR)
          : (pool) => core.registry.sealKeysOf(pool),
      ),
      recorder: usage.recorder,
      usage: usage.reports,
      alertReports: new AlertReports({ ...core, ...tenants, blockLedger: jobs.blockLedger }),
      deliveries: callbacks.deliveries,
      uploads: callbacks.uploads,
      signingKeys: new SigningKeyService({ keys: callbacks.keys, accounts, audit }),
      billing,
      disableLinks: billing.disableLinks,
      autoOverage: billing.selling?.autoOverage ?? NO_AUTO_OVERAGE,
      links,
      sharedLinks: new SharedLinks({ history: jobs.store.history, links, audit, clock }),
      publicUrl: () => address.publicUrl ?? '',
      documentation: new DocumentationFiles(),
      checkCallbackUrl: (url, field) => checkCallbackUrl(url, policy, field),
      checkUrl: (url, name) => void checkSourceUrl(url, policy, name),
    },
    async endStreams() {
      gate.stop();
      batchWatch.close();
      accountWatch.close();
    },
    endWaiting: (graceMs) => waiter.close(graceMs),
    async close() {
      await delivered.flush();
      await taker.close();
      await lastUse.flush();
      await issuers.destroy();
      await merger.close();
      await einvoices.close();
      await validator.close();
    },
  };
}
