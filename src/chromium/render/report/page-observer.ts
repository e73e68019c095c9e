import type { Protocol } from 'puppeteer';
import { within } from '../../../async/timeout.ts';
import { type Findings, MAX_PICTURE_BYTES } from '../../../report/findings.ts';
import type { RenderPage } from '../../contexts/page/render-page.ts';
import { WorkerSessions } from '../../contexts/page/worker-sessions.ts';
import type { JobDocument } from '../document/job-document.ts';
import type { EgressRecord } from '../document/load-url.ts';
import { BINDING } from './report-script.ts';
import { RequestObserver } from './request-observer.ts';

/** Longest message of a document, in characters: two encoded texts. */
const MAX_PAYLOAD = 8192;
/** Time limit for drawing the picture of a page; without it the report has no picture. Milliseconds. */
const PICTURE_MS = 1000;
/** Characters of HTML in which relative addresses are looked up as they were written: each takes a search. */
const MAX_SEARCHED = 256 * 1024;
const PICTURE = { width: 1280, height: 1280, quality: 50, scale: 0.5 };

/** Receives the events of a page's document, and records them in the findings of its render. */
export class PageObserver {
  readonly #page: RenderPage;
  readonly #findings: Findings;
  readonly #workers: WorkerSessions;
  /** One observer for the page, and one for each worker. */
  readonly #requests: RequestObserver[];

  constructor(
    page: RenderPage,
    { kind, source }: Pick<JobDocument, 'kind' | 'source'>,
    findings: Findings,
    egress: EgressRecord | undefined,
  ) {
    this.#page = page;
    this.#findings = findings;
    const { session, frameId } = page;
    const { requests } = findings;
    const html = kind === 'html' ? source.slice(0, MAX_SEARCHED) : undefined;
    this.#requests = [new RequestObserver({ session, frameId, html }, requests, egress)];
    this.#workers = new WorkerSessions(session, (worker) => {
      page.countReportsOf(worker);
      this.#requests.push(
        new RequestObserver({ session: worker, frameId: undefined, html }, requests, egress),
      );
      worker.send('Network.enable').catch(() => undefined);
    });
    session.on('Runtime.bindingCalled', this.#reported);
  }

  /** Stops recording: the findings no longer change. */
  stop(): void {
    this.#page.session.off('Runtime.bindingCalled', this.#reported);
    this.#workers.stop();
    for (const requests of this.#requests.splice(0)) requests.stop();
  }

  /**
   * Takes a picture of the page as it is now, or none if that takes too long or the picture is too large. Never
   * rejects.
   */
  async takePicture(): Promise<void> {
    const { width, height, quality, scale } = PICTURE;
    if (this.#page.dead) return;
    try {
      const taken = this.#page.session.send('Page.captureScreenshot', {
        format: 'jpeg',
        quality,
        clip: { x: 0, y: 0, width, height, scale },
        optimizeForSpeed: true,
      });
      const { data } = await within(PICTURE_MS, 'a picture', taken);
      if (data.length * 0.75 <= MAX_PICTURE_BYTES) this.#findings.picture = { mediaType: 'image/jpeg', data };
      else this.#findings.truncated.add('picture');
    } catch {
      // A page that hangs or has ended cannot be shown.
    }
  }

  readonly #reported = ({ name, payload }: Protocol.Runtime.BindingCalledEvent): void => {
    if (name !== BINDING || payload.length > MAX_PAYLOAD) return;
    const [list, one, other] = reportOf(payload);
    if (list === 'console') this.#findings.addConsole(one, other);
    else if (list === 'exception') this.#findings.addException(one, other);
  };
}

/** Parses what a document has sent, which may be anything. */
function reportOf(payload: string): [list: string, one: string, other: string] {
  try {
    const [list, one, other] = JSON.parse(payload) as unknown[];
    return [String(list), String(one), String(other)];
  } catch {
    return ['', '', ''];
  }
}
