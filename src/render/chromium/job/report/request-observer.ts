import type { CDPEvents, CDPSession, Protocol } from 'puppeteer';
import type { EgressRecord } from '../../../../infra/egress/egress-record.ts';
import { type LoggedRequest, type RequestLog, WORKER } from '../../../report/recorded-requests.ts';
import { DOCUMENT_ORIGIN } from '../../page/document-origin.ts';
import { relativeName } from './relative-name.ts';

/** Header by which the egress proxy marks its own responses. */
const EGRESS_HEADER = 'x-platen-egress';

/** Why a request was blocked, in the terms of options and policies. */
const RULES: Readonly<Record<string, string>> = {
  inspector: 'blockRequests',
  csp: 'content security policy',
  'mixed-content': 'mixed content',
};

/** Chromium's error for a response that opens no web socket. */
const SOCKET_STATUS = /^Error during WebSocket handshake: Unexpected response code: (\d{3})$/;

/** The page or worker that sends the requests. */
interface Requester {
  readonly session: CDPSession;
  /** The main frame of the page; undefined for a worker, which has no frames. */
  readonly frameId: string | undefined;
  /** The beginning of the HTML of the document at DOCUMENT_ORIGIN; undefined for a source URL. */
  readonly html: string | undefined;
}

/** Records the requests of a page or of a worker in the log of its render, as the browser reports them. */
export class RequestObserver {
  readonly #requester: Requester;
  readonly #requests: RequestLog;
  readonly #egress: EgressRecord | undefined;
  readonly #since = Date.now();
  readonly #unsubscribe: (() => void)[] = [];

  constructor(requester: Requester, requests: RequestLog, egress: EgressRecord | undefined) {
    this.#requester = requester;
    this.#requests = requests;
    this.#egress = egress;
    this.#on('Network.requestWillBeSent', (event) => this.#sent(event));
    this.#on('Network.requestServedFromCache', ({ requestId }) =>
      requests.change(requestId, { rule: 'cache' }),
    );
    this.#on('Network.responseReceived', (event) => this.#responded(event));
    // The only event for a response that the document may not read.
    this.#on('Network.responseReceivedExtraInfo', ({ requestId, statusCode, headers }) =>
      requests.responded(requestId, { status: statusCode, egress: egressMark(headers) }),
    );
    this.#on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
      requests.ended(requestId, ({ outcome, status, rule }) => ({
        outcome: outcome === 'pending' ? outcomeOf(status) : outcome,
        bytes: rule === 'cache' ? 0 : Math.round(encodedDataLength),
      })),
    );
    this.#on('Network.loadingFailed', (event) => this.#failed(event));
    this.#on('Network.webSocketCreated', ({ requestId, url }) =>
      requests.sent(requestId, { url, kind: 'websocket', main: false }),
    );
    this.#on('Network.webSocketHandshakeResponseReceived', ({ requestId, response: { status } }) =>
      requests.change(requestId, { status, outcome: status === 101 ? 'loaded' : 'error' }),
    );
    this.#on('Network.webSocketFrameError', ({ requestId, errorMessage }) => {
      const status = Number(SOCKET_STATUS.exec(errorMessage)?.[1]);
      if (status) requests.responded(requestId, { status });
      else requests.change(requestId, { error: errorMessage.slice(0, 200) });
    });
    this.#on('Network.webSocketClosed', ({ requestId }) =>
      requests.ended(requestId, ({ outcome }) => ({
        outcome: outcome === 'pending' ? 'unreachable' : outcome,
      })),
    );
  }

  /** Stops recording: the log no longer changes. */
  stop(): void {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  #on<Name extends keyof CDPEvents>(name: Name, listener: (event: CDPEvents[Name]) => void): void {
    const { session } = this.#requester;
    session.on(name, listener);
    this.#unsubscribe.push(() => session.off(name, listener));
  }

  #sent({
    requestId,
    loaderId,
    request,
    type,
    frameId,
    initiator,
    redirectResponse,
  }: Protocol.Network.RequestWillBeSentEvent): void {
    const requests = this.#requests;
    if (redirectResponse !== undefined) {
      const { status, encodedDataLength } = redirectResponse;
      requests.ended(requestId, () => ({
        outcome: 'redirected',
        status,
        bytes: Math.round(encodedDataLength),
      }));
    }
    const main = type === 'Document' && frameId === this.#requester.frameId;
    const kind = main ? 'page' : kindOf(type, loaderId, initiator);
    const { html } = this.#requester;
    const ofDocument = request.url.startsWith(`${DOCUMENT_ORIGIN}/`);
    if (!ofDocument) requests.sent(requestId, { url: request.url, kind, main });
    // Only the document itself is at its origin. What else it asks there was written as a relative address.
    else if (html !== undefined && !main && request.url !== `${DOCUMENT_ORIGIN}/`)
      requests.relative((redactor) => relativeName(request.url, redactor.address(request.url), html), kind);
  }

  #responded({ requestId, response }: Protocol.Network.ResponseReceivedEvent): void {
    const { status, headers, fromDiskCache, fromServiceWorker } = response;
    const rule = fromDiskCache ? 'cache' : fromServiceWorker ? 'service worker' : undefined;
    this.#requests.change(requestId, { status, ...(rule && { rule }) });
    this.#requests.responded(requestId, { status, egress: egressMark(headers) });
  }

  #failed(event: Protocol.Network.LoadingFailedEvent): void {
    this.#requests.ended(event.requestId, (entry) => this.#failureOf(event, entry));
  }

  #failureOf(
    { errorText, canceled, blockedReason, corsErrorStatus }: Protocol.Network.LoadingFailedEvent,
    { outcome, status, host }: LoggedRequest,
  ): Partial<LoggedRequest> {
    if (outcome !== 'pending') return {};
    if (status !== null && status >= 400) return { outcome: 'error' };
    const error = errorText.slice(0, 200) || null;
    if (blockedReason !== undefined)
      return { outcome: 'blocked', rule: RULES[blockedReason] ?? blockedReason, error };
    if (corsErrorStatus !== undefined) return { outcome: 'blocked', rule: 'cors', error };
    if (this.#egress?.wasBlocked(host, this.#since)) return { outcome: 'blocked', rule: 'egress', error };
    if (canceled) return { outcome: 'cancelled' };
    return { outcome: 'unreachable', error };
  }
}

/** The kind of a request. A worker's requests have no loader, nor has that for its script, with initiator `other`. */
function kindOf(type: string | undefined, loaderId: string, initiator: Protocol.Network.Initiator): string {
  if (type === 'Document') return 'frame';
  if (loaderId !== '') return (type ?? 'other').toLowerCase();
  if (initiator.type === 'other') return WORKER;
  // Loaded by importScripts.
  return type === undefined || type === 'Other' ? 'script' : type.toLowerCase();
}

function outcomeOf(status: number | null): 'loaded' | 'error' {
  return status !== null && status >= 400 ? 'error' : 'loaded';
}

function egressMark(headers: Protocol.Network.Headers): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === EGRESS_HEADER)?.[1];
}
