import type { AccountStore } from '../accounts/account-store.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { PlatenError } from '../errors/registry.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Plans } from '../plans/plan.ts';
import type { DownloadLinks } from '../renders/download-links.ts';
import type { RenderService } from '../renders/render-service.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { TemplateStore } from '../templates/template-store.ts';

/** What the routes of every role work with. */
export interface OpsParts {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Whether the process can take work, and what keeps it from it. */
  readonly readiness: () => Promise<{ ready: boolean; problems: string[] }>;
  /** Whether the process still makes progress. */
  readonly liveness: () => { live: boolean; problem?: string };
}

/** What the routes of the API work with. */
export interface ApiParts extends OpsParts {
  readonly config: Pick<Config, 'PLATEN_HEADER_PREFIX' | 'PLATEN_TRUSTED_PROXIES'>;
  readonly renders: RenderService;
  readonly keys: KeyStore;
  readonly accounts: AccountStore;
  readonly templates: TemplateStore;
  readonly plans: Plans;
  readonly links: DownloadLinks;
  /** Absolute links start with it; known once the server listens. */
  readonly publicUrl: () => string;
  readonly clock: Clock;
  /** Why no new work is taken at the moment, by anybody. */
  readonly admission: () => PlatenError | undefined;
  /** Judges a source URL before the job is accepted; throws what the caller is told. */
  readonly checkUrl?: (url: string) => void;
}
