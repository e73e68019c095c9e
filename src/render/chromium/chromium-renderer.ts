import type { Logger } from 'pino';
import { PlatenError } from '../../infra/errors/registry.ts';
import { withImplied } from '../options/all/implied-options.ts';
import type { RenderOptions } from '../options/all/render-options.ts';
import { secretsOf } from '../options/all/secrets.ts';
import { MARGIN_TEMPLATES } from '../options/core/margin-templates.ts';
import type { BrowserStatus, Renderer, RendererHealth, RenderRequest, RenderResult } from '../renderer.ts';
import { Findings } from '../report/findings.ts';
import type { BrowserPool } from './browsers/browser-pool.ts';
import { CancelScope } from './cancel-scope.ts';
import type { ContextPool } from './contexts/context-pool.ts';
import type { ContextMetrics } from './contexts/open-contexts.ts';
import type { RenderSlots } from './contexts/render-slots.ts';
import { examineDocument } from './job/document/job-document.ts';
import { type RenderDeps, renderJob } from './job/render-job.ts';
import { ReportCollector } from './job/report-collector.ts';
import { asRenderError } from './render-error.ts';

/** Receives the measurements; prom-client's gauges, counters and histograms fit. */
export interface RenderMetrics extends ContextMetrics {
  /** Seconds from a render's slot to its PDF. */
  readonly contextRenders?: { observe(labels: { kind: 'warm' | 'cold' }, seconds: number): void };
}

export interface ChromiumRendererDeps {
  readonly browser: BrowserStatus;
  readonly browsers: BrowserPool;
  readonly contexts: ContextPool;
  readonly shared: RenderDeps;
  readonly slots: RenderSlots;
  readonly logger: Logger;
  readonly metrics: RenderMetrics | undefined;
}

/** Renders in the given browsers; `createChromiumRenderer` puts its dependencies together. */
export class ChromiumRenderer implements Renderer {
  readonly #deps: ChromiumRendererDeps;
  readonly #running = new Map<CancelScope, Promise<unknown>>();
  #lastProgress = Date.now();
  #closed: Promise<void> | undefined;

  constructor(deps: ChromiumRendererDeps) {
    this.#deps = deps;
  }

  /** The browser's status, as found after its start. */
  get browser(): BrowserStatus {
    return this.#deps.browser;
  }

  async render(asked: RenderRequest): Promise<RenderResult> {
    const { conformance, einvoice } = asked.options;
    const implies = conformance !== undefined || einvoice !== undefined;
    const request = implies ? { ...asked, options: withImplied(asked.options) } : asked;
    if (this.#closed) throw new PlatenError('WORKER_LOST');
    const end = new CancelScope(request.deadline, request.signal, request.onWaiting);
    const rendering = this.#renderInSlot(request, end);
    this.#running.set(end, rendering);
    try {
      return await rendering;
    } catch (error) {
      this.#deps.logger.debug({ jobId: request.jobId, err: error }, 'a render failed');
      throw error;
    } finally {
      this.#running.delete(end);
      end.dispose();
      this.#lastProgress = Date.now();
    }
  }

  health(): RendererHealth {
    const { browsers, slots } = this.#deps;
    const { busy, total } = slots;
    if (busy === 0) this.#lastProgress = Date.now();
    return {
      ready: this.#closed === undefined && browsers.ready,
      slots: total,
      busy,
      browsers: browsers.browsers,
      lastProgress: this.#lastProgress,
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    for (const end of this.#running.keys()) end.end(new PlatenError('WORKER_LOST'));
    await Promise.allSettled(this.#running.values());
    await this.#deps.slots.close();
    this.#deps.contexts.close();
    await Promise.all([this.#deps.browsers.close(), this.#deps.shared.assets?.close()]);
  }

  async #renderInSlot(request: RenderRequest, end: CancelScope): Promise<RenderResult> {
    const { accountId, class: priority = 'interactive', source, options, warnings, alone } = request;
    const { browser, contexts, metrics, shared, slots } = this.#deps;
    const collector = new ReportCollector();
    const findings = findingsFor(options, browser.version, warnings);
    try {
      const document = examineDocument(source, options, findings !== undefined);
      return await slots.run(end, async () => {
        const lease = await contexts.acquire({ account: accountId, priority, document, alone }, end);
        let clean = false;
        try {
          const outcome = await renderJob(lease, { request, document, end, collector, findings }, shared);
          clean = outcome.clean;
          const seconds = (Date.now() - collector.startedAt) / 1000;
          metrics?.contextRenders?.observe({ kind: lease.kind }, seconds);
          return outcome.result;
        } finally {
          await lease.release(clean);
        }
      });
    } catch (error) {
      request.onFailed?.(collector.fail(), options.report ? findings : undefined);
      throw end.error ?? asRenderError(error);
    }
  }
}

/** The findings that a render collects: none, unless its report is requested or decides whether it fails. */
function findingsFor(
  options: RenderOptions,
  engine: string,
  warnings: RenderRequest['warnings'] = [],
): Findings | undefined {
  const { report, failOn, conformance } = options;
  if (!report && failOn === undefined && conformance === undefined) return undefined;
  const findings = new Findings(secretsOf(options));
  findings.engine = engine;
  findings.sourceWarnings = warnings;
  if (!options.displayHeaderFooter) findings.notDisplayed = MARGIN_TEMPLATES.filter((name) => options[name]);
  return findings;
}
