import type { Protocol } from 'puppeteer';
import type { EgressRecord } from '../../../../infra/egress/egress-record.ts';
import type { Findings } from '../../../report/findings.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { BINDING } from '../../page/report-script.ts';
import { WorkerSessions } from '../../page/worker-sessions.ts';
import type { JobDocument } from '../document/job-document.ts';
import { RequestObserver } from './request-observer.ts';

/** Longest message of a document, in characters: two encoded texts. */
const MAX_PAYLOAD = 8192;
/** Characters of HTML in which relative addresses are looked up as they were written: each takes a search. */
const MAX_SEARCHED = 256 * 1024;

/** Receives the events of a page's document, and records them in the findings of its render. */
export class PageObserver {
  readonly #session: RenderPage['session'];
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
    this.#findings = findings;
    const { session, frameId } = page;
    this.#session = session;
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
    this.#session.off('Runtime.bindingCalled', this.#reported);
    this.#workers.stop();
    for (const requests of this.#requests.splice(0)) requests.stop();
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
