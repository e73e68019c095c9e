import type { MediaType } from '../infra/outputs/media-type.ts';
import type { RenderOptions } from './options/all/render-options.ts';
import type { Findings } from './report/findings.ts';
import type { RenderReport } from './report/phases.ts';

/** The source of a page: a document as text, or an address. Templates have been filled in to HTML before. */
export type RenderSource =
  | {
      readonly kind: 'html';
      readonly html: string;
      /** The source of the template behind the HTML: the values filled in were not written by the caller. */
      readonly template?: string;
    }
  | { readonly kind: 'url'; readonly url: string };

/** A PDF that somebody has sent, which may be hostile. */
export interface PdfSource {
  readonly kind: 'pdf';
  readonly pdf: Uint8Array;
}

/** Whether a client waits for the render. */
type RenderClass = 'interactive' | 'bulk';

export interface RenderRequest<Source = RenderSource> {
  readonly jobId: string;
  /** The document's account. Nothing in the browser is ever shared between two accounts. */
  readonly accountId: string;
  /** Among renders that wait to compute, interactive ones come first. Default: interactive. */
  readonly class?: RenderClass;
  readonly source: Source;
  readonly options: RenderOptions;
  /** Warnings about the document from before it is rendered, for the report. */
  readonly warnings?: readonly string[];
  /** The options as the caller has written them, before data were filled in. Default: `options`. */
  readonly written?: RenderOptions;
  /** Epoch milliseconds by which everything has to be done: waiting for a page, loading, printing, finishing. */
  readonly deadline: number;
  /** Largest output that is returned, in bytes; a larger one is OUTPUT_TOO_LARGE. */
  readonly maxOutputBytes: number;
  /** Whether the render needs a browser of its own, which ends with it. */
  readonly alone?: boolean;
  /** Called as the render begins or ends to wait for a core or a browser: no wait of its document's. */
  readonly onWaiting?: (waits: boolean) => void;
  /** Called before a failed render rejects, with the report of where its time went up to the failure. */
  readonly onFailed?: (report: RenderReport, findings: Findings | undefined) => void;
  /** Aborted when the job was cancelled or its lease lost: the render is ended and rejects with CANCELLED. */
  readonly signal: AbortSignal;
}

export interface RenderResult {
  readonly bytes: Uint8Array;
  readonly mediaType: MediaType;
  readonly pages: number;
  readonly report: RenderReport;
  /** Present if the options request a report. */
  readonly findings?: Findings | undefined;
}

export interface RendererHealth {
  /** Whether a render that starts now would find a running browser. */
  readonly ready: boolean;
  readonly slots: number;
  readonly busy: number;
  readonly browsers: number;
  /** Epoch milliseconds when a render last ended, or the pool was last found idle: the liveness signal. */
  readonly lastProgress: number;
}

/** The browser's status, as found after its start. */
export interface BrowserStatus {
  /** Its name and version, as it reports them. */
  readonly version: string;
  /** Whether its renderers are in Chromium's sandbox, found by inspecting one rather than from configuration. */
  readonly sandbox: 'on' | 'off' | 'unknown';
  /** Why it was started without its sandbox. */
  readonly reason?: string;
}

/**
 * The port through which a worker renders a document to a PDF.
 *
 * `render` rejects with a PlatenError of the registry's job codes. When it settles, the work has really ended: no page
 * of the job is left, whatever the document did.
 */
export interface Renderer {
  render(request: RenderRequest): Promise<RenderResult>;
  health(): RendererHealth;
  /** Ends every browser; renders in progress reject with WORKER_LOST. */
  close(): Promise<void>;
}

export type JobRequest = RenderRequest<RenderSource | PdfSource>;

/** A renderer that converts PDFs as well, with no browser: see `withConversions`. */
export interface JobRenderer extends Renderer {
  render(request: JobRequest): Promise<RenderResult>;
}
