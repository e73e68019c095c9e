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
  /** What `allowed` goes by: origins. */
  readonly audience: readonly string[];
  /** Whether a request to `url` gets them. */
  readonly allowed: (url: URL) => boolean;
}

/** Header fields that describe how a body was sent. */
const FRAMING: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'transfer-encoding']);

/** Of all documents of a render that a policy is added to, frames too: they pass through this process for it. */
const MAX_REWRITTEN_BYTES = 16 * 1024 * 1024;
/** Bytes asked for at a time. */
const CHUNK = 1024 * 1024;

/** The documents of one render that a policy is added to. */
class Rewriting {
  bytesLeft = MAX_REWRITTEN_BYTES;
  /** The same by what their servers have said of their lengths, before anything is read. */
  announcedLeft = MAX_REWRITTEN_BYTES;
  /** One of them passes at a time: the rest stays in the browser, and is not held here. */
  readonly passing = new Semaphore(1);
}

type Mode = 'off' | 'own' | 'everything';

/**
 * Steps between the page and the network for the jobs that need it: adds asset headers or a policy. Every request that it
 * is asked about makes a detour through here, with all that it sends. What is at DOCUMENT_ORIGIN comes over the network;
 * without a host for it, it is answered from here.
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
  /** By request: the origin that its chain of redirects began with. */
  readonly #origins = new Map<string, string>();

  /**
   * @param onLimitExceeded called when a render's documents are larger than may pass through here.
   * @param hosted what the page finds at DOCUMENT_ORIGIN, if that comes over the network.
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
      // A request that cannot go on must not hold its document up. What is gone already cannot be failed either.
      this.#handle(event).catch(() => this.#fail(event));
    });
  }

  /** Has `document` found at DOCUMENT_ORIGIN; loading it again finds it again. */
  serve(document: OwnDocument): void {
    this.#document = document;
    this.#hosted?.serve(document);
  }

  /** Has headers added. In force after `apply`. */
  addHeaders(assets: AssetHeaders): void {
    this.#assets = assets;
  }

  /** Has documents loaded under a further Content-Security-Policy. In force after `apply`. */
  addPolicy(policy: string): void {
    this.#policy = policy;
  }

  /** Has requests fail, all but those for the document itself. In force after `apply`. */
  block(blocked: BlockedRequests): void {
    this.#blocked = blocked;
  }

  /** Forgets the job's wishes. In force after `apply`. */
  clear(): void {
    this.#origins.clear();
    this.#document = undefined;
    this.#hosted?.serve(undefined);
    this.#assets = undefined;
    this.#policy = undefined;
    this.#blocked = undefined;
    this.#rewriting = new Rewriting();
  }

  /** Puts in force what was asked for. */
  async apply(): Promise<void> {
    const special = this.#assets || this.#policy || this.#blocked;
    const mode: Mode = special ? 'everything' : this.#hosted ? 'off' : 'own';
    if (mode === this.#mode && mode !== 'everything') return;
    this.#mode = mode;
    if (mode === 'off') {
      await this.#session.send('Fetch.disable');
      return;
    }
    // No others than those that are needed: what is paused is told of with all that it sends.
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

  /** There is nothing at DOCUMENT_ORIGIN but the main frame's document. */
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
   * The answer's own policy stays in force: policies only ever add up. The answer is given anew rather than continued
   * with a further header, which Chromium shows to scripts but does not obey: it has read the policies by then.
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
    // Of a render that is over: what is left of it has no part in the next one.
    if (rewriting !== this.#rewriting) {
      this.#fail(event);
      return;
    }
    if (body === undefined) {
      this.#reportLimitExceeded();
      return;
    }
    // The body comes decoded and in one piece.
    const kept = (event.responseHeaders ?? []).filter(({ name }) => !FRAMING.has(name.toLowerCase()));
    await this.#session.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: status,
      responseHeaders: [...kept, { name: 'Content-Security-Policy', value: this.#policy ?? '' }],
      body: body.toString('base64'),
    });
  }

  /** undefined when it is larger than what is left to the documents of its render. */
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
   * A redirect never takes the headers to another origin, not even to one that may have them otherwise. It still carries
   * what was added to the request before it: where that may not go it is taken off.
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

/** The length of an answer's body as it is sent, by its header; 0 when it says none. What is compressed is mostly longer. */
function announcedBytes({ responseHeaders = [] }: Paused): number {
  const length = responseHeaders.find(({ name }) => name.toLowerCase() === 'content-length')?.value ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : 0;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}
