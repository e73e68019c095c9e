import type { CDPSession, Protocol } from 'puppeteer';
import { DOCUMENT_ORIGIN } from './document-origin.ts';

type Paused = Protocol.Fetch.RequestPausedEvent;
type Answer = Protocol.Fetch.FulfillRequestRequest;

/** Headers for some of a document's requests. */
export interface AssetHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** What `allowed` goes by: origins. */
  readonly audience: readonly string[];
  /** Whether a request to `url` gets them. */
  readonly allowed: (url: URL) => boolean;
}

/** What is found at DOCUMENT_ORIGIN: the job's document, in place of an empty one. */
export interface OwnDocument {
  readonly html: string;
  /** A Content-Security-Policy to send with it. */
  readonly csp: string | undefined;
}

/** Header fields that describe how a body was sent. */
const FRAMING: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'transfer-encoding']);

type Mode = 'off' | 'own' | 'everything';

/**
 * Steps between the page and the network: answers requests to DOCUMENT_ORIGIN, where HTML documents are, and for the
 * jobs that need it adds asset headers or a policy. Every request it is asked about makes a detour through here.
 */
export class Interceptor {
  readonly #session: CDPSession;
  readonly #frameId: string;
  #document: OwnDocument | undefined;
  #assets: AssetHeaders | undefined;
  #policy: string | undefined;
  #mode: Mode = 'off';
  /** By request: the origin that its chain of redirects began with. */
  readonly #origins = new Map<string, string>();

  constructor(session: CDPSession, frameId: string) {
    this.#session = session;
    this.#frameId = frameId;
    session.on('Fetch.requestPaused', (event: Paused) => {
      // A request that cannot go on must not hold its document up. What is gone already cannot be failed either.
      this.#handle(event).catch(() => this.#fail(event));
    });
  }

  /** Has `document` found at DOCUMENT_ORIGIN; loading it again finds it again. */
  serve(document: OwnDocument): void {
    this.#document = document;
  }

  /** Has headers added. In force after `apply`. */
  addHeaders(assets: AssetHeaders): void {
    this.#assets = assets;
  }

  /** Has documents loaded under a further Content-Security-Policy. In force after `apply`. */
  addPolicy(policy: string): void {
    this.#policy = policy;
  }

  /** Forgets the job's wishes. In force after `apply`. */
  clear(): void {
    this.#origins.clear();
    this.#document = undefined;
    this.#assets = undefined;
    this.#policy = undefined;
  }

  /** Puts in force what was asked for. */
  async apply(): Promise<void> {
    const mode: Mode = this.#assets || this.#policy ? 'everything' : 'own';
    if (mode === this.#mode && mode === 'own') return;
    this.#mode = mode;
    const patterns: Protocol.Fetch.RequestPattern[] = [
      { urlPattern: this.#assets ? '*' : `${DOCUMENT_ORIGIN}/*`, requestStage: 'Request' },
    ];
    if (this.#policy) patterns.push({ urlPattern: '*', requestStage: 'Response', resourceType: 'Document' });
    await this.#session.send('Fetch.enable', { patterns });
  }

  async #handle(event: Paused): Promise<void> {
    if (event.request.url.startsWith(`${DOCUMENT_ORIGIN}/`)) {
      await this.#session.send('Fetch.fulfillRequest', this.#answer(event));
      return;
    }
    if (event.responseStatusCode !== undefined || event.responseErrorReason !== undefined) {
      await this.#continueResponse(event);
      return;
    }
    await this.#session.send('Fetch.continueRequest', {
      requestId: event.requestId,
      ...this.#headersFor(event),
    });
  }

  /** There is nothing at DOCUMENT_ORIGIN but the main frame's document. */
  #answer({ requestId, resourceType, frameId }: Paused): Answer {
    if (resourceType !== 'Document' || frameId !== this.#frameId) return { requestId, responseCode: 404 };
    const { html = '', csp } = this.#document ?? {};
    return {
      requestId,
      responseCode: 200,
      responseHeaders: [
        { name: 'Content-Type', value: 'text/html; charset=utf-8' },
        { name: 'Cache-Control', value: 'no-store' },
        // DOCUMENT_ORIGIN is nobody's: nobody is told of it.
        { name: 'Referrer-Policy', value: 'no-referrer' },
        ...(csp ? [{ name: 'Content-Security-Policy', value: csp }] : []),
      ],
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
    const { body, base64Encoded } = await this.#session.send('Fetch.getResponseBody', { requestId });
    // The body comes decoded and in one piece.
    const kept = (event.responseHeaders ?? []).filter(({ name }) => !FRAMING.has(name.toLowerCase()));
    await this.#session.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: status,
      responseHeaders: [...kept, { name: 'Content-Security-Policy', value: this.#policy ?? '' }],
      body: base64Encoded ? body : Buffer.from(body).toString('base64'),
    });
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

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}
