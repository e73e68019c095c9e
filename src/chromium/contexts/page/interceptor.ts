import type { CDPSession, Protocol } from 'puppeteer';
import { Semaphore } from '../../../async/semaphore.ts';
import type { BlockedRequests } from '../../../options/core/option.ts';
import { documentHeaders, type HostedPage } from './document-host.ts';
import { DOCUMENT_ORIGIN, type OwnDocument } from './document-origin.ts';
import { asFetchPattern, matchesPattern } from './url-pattern.ts';

type Paused = Protocol.Fetch.RequestPausedEvent;
type Reply = Protocol.Fetch.FulfillRequestRequest;

/** Headers for some of a document's requests. */
export interface AssetHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** The origins that `allowed` accepts. */
  readonly audience: readonly string[];
  /** Whether a request to `url` gets the headers. */
  readonly allowed: (url: URL) => boolean;
}

/** Header fields that describe how a body was sent. */
const FRAMING: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'transfer-encoding']);

/**
 * Limit on the total size of a render's documents, frames included, to which a policy is added: they pass through this
 * process.
 */
const MAX_REWRITTEN_BYTES = 16 * 1024 * 1024;
/** Bytes requested at a time. */
const CHUNK = 1024 * 1024;

/** State of adding a policy to the documents of one render. */
class Rewriting {
  bytesLeft = MAX_REWRITTEN_BYTES;
  /** The same limit applied to the lengths that servers announce, before anything is read. */
  announcedLeft = MAX_REWRITTEN_BYTES;
  /** One document passes at a time; the others stay in the browser, and are not held in memory here. */
  readonly passing = new Semaphore(1);
}

type Mode = 'off' | 'own' | 'everything';

/**
 * Intercepts the page's requests for jobs that need it: adds asset headers or a policy. Every request that is paused
 * for that passes through this process, with its whole body. DOCUMENT_ORIGIN is served over the network; without a host
 * for it, its requests are fulfilled here.
 */
export class Interceptor {
  readonly #session: CDPSession;
  readonly #frameId: string;
  readonly #onLimitExceeded: (what: string) => void;
  readonly #hosted: HostedPage | undefined;
  #document: OwnDocument | undefined;
  #assets: AssetHeaders | undefined;
  #policy: string | undefined;
  #blocked: BlockedRequests | undefined;
  #mode: Mode = 'off';
  #rewriting = new Rewriting();
  /** By request: the origin at which its chain of redirects began. */
  readonly #origins = new Map<string, string>();

  /**
   * @param onLimitExceeded called when a render's documents are larger than may pass through this process.
   * @param hosted the page's document at DOCUMENT_ORIGIN, if that is served over the network.
   */
  constructor(
    session: CDPSession,
    frameId: string,
    onLimitExceeded: (what: string) => void,
    hosted: HostedPage | undefined,
  ) {
    this.#session = session;
    this.#onLimitExceeded = onLimitExceeded;
    this.#hosted = hosted;
    this.#frameId = frameId;
    session.on('Fetch.requestPaused', (event: Paused) => {
      // A request that cannot continue must not block its document. If the page has ended, it cannot be failed either.
      this.#handle(event).catch(() => this.#fail(event));
    });
  }

  /** Serves `document` at DOCUMENT_ORIGIN, at each load. */
  serve(document: OwnDocument): void {
    this.#document = document;
    this.#hosted?.serve(document);
  }

  /** Adds headers to requests. Takes effect with `apply`. */
  addHeaders(assets: AssetHeaders): void {
    this.#assets = assets;
  }

  /** Adds a Content-Security-Policy to documents. Takes effect with `apply`. */
  addPolicy(policy: string): void {
    this.#policy = policy;
  }

  /** Makes requests fail, except for the document itself. Takes effect with `apply`. */
  block(blocked: BlockedRequests): void {
    this.#blocked = blocked;
  }

  /** Removes the job's settings. Takes effect with `apply`. */
  clear(): void {
    this.#origins.clear();
    this.#document = undefined;
    this.#hosted?.serve(undefined);
    this.#assets = undefined;
    this.#policy = undefined;
    this.#blocked = undefined;
    this.#rewriting = new Rewriting();
  }

  /** Applies the settings made since the last call. */
  async apply(): Promise<void> {
    const special = this.#assets || this.#policy || this.#blocked;
    const mode: Mode = special ? 'everything' : this.#hosted ? 'off' : 'own';
    if (mode === this.#mode && mode !== 'everything') return;
    this.#mode = mode;
    if (mode === 'off') {
      await this.#session.send('Fetch.disable');
      return;
    }
    // Pauses only the requests that have to be: a paused request is reported with its whole body.
    const patterns: Protocol.Fetch.RequestPattern[] = [];
    if (this.#assets) patterns.push({ urlPattern: '*', requestStage: 'Request' });
    else if (!this.#hosted)
      patterns.push({
        urlPattern: `${DOCUMENT_ORIGIN}/*`,
        requestStage: 'Request',
        resourceType: 'Document',
      });
    if (!this.#assets) patterns.push(...blockingPatterns(this.#blocked));
    if (this.#policy) patterns.push({ urlPattern: '*', requestStage: 'Response', resourceType: 'Document' });
    await this.#session.send('Fetch.enable', { patterns });
  }

  async #handle(event: Paused): Promise<void> {
    if (!this.#hosted && event.request.url.startsWith(`${DOCUMENT_ORIGIN}/`)) {
      await this.#session.send('Fetch.fulfillRequest', this.#response(event));
      return;
    }
    if (event.responseStatusCode !== undefined || event.responseErrorReason !== undefined) {
      await this.#continueResponse(event);
      return;
    }
    if (!this.#isMain(event) && isBlocked(event, this.#blocked)) {
      await this.#session.send('Fetch.failRequest', {
        requestId: event.requestId,
        errorReason: 'BlockedByClient',
      });
      return;
    }
    await this.#session.send('Fetch.continueRequest', {
      requestId: event.requestId,
      ...this.#headersFor(event),
    });
  }

  #isMain({ resourceType, frameId }: Paused): boolean {
    return resourceType === 'Document' && frameId === this.#frameId;
  }

  /** Only the main frame's document exists at DOCUMENT_ORIGIN. */
  #response(event: Paused): Reply {
    const { requestId } = event;
    if (!this.#isMain(event)) return { requestId, responseCode: 404 };
    const { html = '', csp } = this.#document ?? {};
    return {
      requestId,
      responseCode: 200,
      responseHeaders: documentHeaders(csp).map(([name, value]) => ({ name, value })),
      body: Buffer.from(html).toString('base64'),
    };
  }

  /**
   * The response's own policy stays in force, since policies only ever add up. The response is fulfilled anew rather
   * than continued with a further header: Chromium shows such a header to scripts but does not obey it, as it has read
   * the policies by then.
   */
  async #continueResponse(event: Paused): Promise<void> {
    const { requestId, responseStatusCode: status } = event;
    if (status === undefined || isRedirect(status)) {
      await this.#session.send('Fetch.continueResponse', { requestId });
      return;
    }
    const rewriting = this.#rewriting;
    rewriting.announcedLeft -= announcedBytes(event);
    if (rewriting.announcedLeft < 0) {
      this.#reportLimitExceeded();
      return;
    }
    await rewriting.passing.run(() => this.#respondUnderPolicy(event, status, rewriting));
  }

  async #respondUnderPolicy(event: Paused, status: number, rewriting: Rewriting): Promise<void> {
    const { requestId } = event;
    const body = await this.#bodyOf(requestId, rewriting);
    // The rest of a render that has ended must not reach the next one.
    if (rewriting !== this.#rewriting) {
      this.#fail(event);
      return;
    }
    if (body === undefined) {
      this.#reportLimitExceeded();
      return;
    }
    // The body is decoded and in one piece.
    const kept = (event.responseHeaders ?? []).filter(({ name }) => !FRAMING.has(name.toLowerCase()));
    await this.#session.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: status,
      responseHeaders: [...kept, { name: 'Content-Security-Policy', value: this.#policy ?? '' }],
      body: body.toString('base64'),
    });
  }

  /** @returns undefined when the body is larger than the bytes left to its render. */
  async #bodyOf(requestId: string, rewriting: Rewriting): Promise<Buffer | undefined> {
    if (rewriting.bytesLeft < 0 || rewriting !== this.#rewriting) return undefined;
    const { stream: handle } = await this.#session.send('Fetch.takeResponseBodyAsStream', { requestId });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for (let eof = false; !eof && rewriting.bytesLeft >= 0; ) {
      const piece = await this.#session.send('IO.read', { handle, size: CHUNK });
      const chunk = Buffer.from(piece.data, piece.base64Encoded ? 'base64' : 'utf8');
      chunks.push(chunk);
      bytes += chunk.length;
      rewriting.bytesLeft -= chunk.length;
      eof = piece.eof;
    }
    this.#session.send('IO.close', { handle }).catch(() => undefined);
    return rewriting.bytesLeft < 0 ? undefined : Buffer.concat(chunks, bytes);
  }

  #reportLimitExceeded(): void {
    this.#onLimitExceeded(
      `documents of more than ${MAX_REWRITTEN_BYTES} bytes under a policy of the render's`,
    );
  }

  #fail({ requestId }: Paused): void {
    this.#session.send('Fetch.failRequest', { requestId, errorReason: 'Failed' }).catch(() => undefined);
  }

  /**
   * A redirect never carries the headers to another origin, even if requests to that origin get them otherwise. A
   * redirected request still has the headers that were added before; they are removed where they are not allowed.
   */
  #headersFor({ requestId, request, redirectedRequestId }: Paused): {
    headers?: Protocol.Fetch.HeaderEntry[];
  } {
    if (!this.#assets || !URL.canParse(request.url)) return {};
    const url = new URL(request.url);
    const first = redirectedRequestId === undefined ? url.origin : this.#origins.get(redirectedRequestId);
    this.#origins.set(requestId, first ?? '');
    const allowed = first === url.origin && this.#assets.allowed(url);
    if (!allowed && redirectedRequestId === undefined) return {};
    const added = new Set(Object.keys(this.#assets.headers).map((name) => name.toLowerCase()));
    const kept = Object.entries(request.headers).filter(([name]) => !added.has(name.toLowerCase()));
    const all = allowed ? [...kept, ...Object.entries(this.#assets.headers)] : kept;
    return { headers: all.map(([name, value]) => ({ name, value })) };
  }
}

function blockingPatterns({ urls = [], kinds = [] }: BlockedRequests = {}): Protocol.Fetch.RequestPattern[] {
  return [
    ...urls.map((url) => ({ urlPattern: asFetchPattern(url), requestStage: 'Request' as const })),
    ...kinds.map((resourceType) => ({ urlPattern: '*', resourceType, requestStage: 'Request' as const })),
  ];
}

function isBlocked(
  { request, resourceType }: Paused,
  { urls = [], kinds = [] }: BlockedRequests = {},
): boolean {
  return kinds.includes(resourceType) || urls.some((pattern) => matchesPattern(request.url, pattern));
}

/** The length of a response's body as sent, by its header; 0 without one. A compressed body mostly gets longer. */
function announcedBytes({ responseHeaders = [] }: Paused): number {
  const length = responseHeaders.find(({ name }) => name.toLowerCase() === 'content-length')?.value ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : 0;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}
