import type { RenderOptions } from '../options/core/render-options.ts';
import type { MediaType } from '../pdf/media-type.ts';
import type { Findings } from '../report/findings.ts';
import type { RenderReport } from '../report/phases.ts';

/** What is put into the browser: a document as text, or an address to load. Templates are HTML by the time they get here. */
export type RenderSource =
  | {
      readonly kind: 'html';
      readonly html: string;
      /** The source of the template that the HTML was made of: what was filled in was not written by the caller. */
      readonly template?: string;
    }
  | { readonly kind: 'url'; readonly url: string };

/** Whether somebody waits for it. */
export type RenderClass = 'interactive' | 'bulk';

export interface RenderRequest {
  readonly jobId: string;
  /** Whose document it is. Nothing in the browser is ever shared between two accounts. */
  readonly accountId: string;
  /** Of several that want to compute, interactive ones come first. Default: interactive. */
  readonly class?: RenderClass;
  readonly source: RenderSource;
  readonly options: RenderOptions;
  /** Epoch milliseconds by which everything has to be done: waiting for a page, loading, printing, finishing. */
  readonly deadline: number;
  /** Largest output to hand back, in bytes; a larger one is OUTPUT_TOO_LARGE. */
  readonly maxOutputBytes: number;
  /** Whether it has to have a browser to itself, that ends with it. */
  readonly alone?: boolean;
  /** Told when it begins (`true`) and ends to wait for what others have, a core or a browser: no fault of its document. */
  readonly onWaiting?: (waits: boolean) => void;
  /** Told where the time of a render went that fails, before it rejects: up to where it failed. */
  readonly onFailed?: (report: RenderReport, findings: Findings | undefined) => void;
  /** Aborted when the job was cancelled or its lease lost: the render is killed and rejects with CANCELLED. */
  readonly signal: AbortSignal;
}

export interface RenderResult {
  readonly bytes: Uint8Array;
  readonly mediaType: MediaType;
  readonly pages: number;
  readonly report: RenderReport;
  /** Where its options ask for a report. */
  readonly findings?: Findings | undefined;
}

export interface RendererHealth {
  /** Whether a render started now would find a living browser. */
  readonly ready: boolean;
  readonly slots: number;
  readonly busy: number;
  readonly browsers: number;
  /** Epoch milliseconds when a render last ended (either way) or the pool was last found idle: the liveness signal. */
  readonly lastProgress: number;
}

/** The browser that renders, as it was found when it had started. */
export interface BrowserStatus {
  /** Its name and version, as it says them. */
  readonly version: string;
  /** Whether its renderers are in Chromium's sandbox: by looking at one, not by configuration. */
  readonly sandbox: 'on' | 'off' | 'unknown';
  /** Why it was started without its sandbox. */
  readonly reason?: string;
}

/**
 * The port through which a worker turns a document into a PDF.
 *
 * `render` rejects with a PlatenError of the registry's job codes, and when it settles the work has really ended:
 * no page of the job is left, whatever the document did.
 */
export interface Renderer {
  render(request: RenderRequest): Promise<RenderResult>;
  health(): RendererHealth;
  /** Ends every browser; renders still under way reject with WORKER_LOST. */
  close(): Promise<void>;
}
