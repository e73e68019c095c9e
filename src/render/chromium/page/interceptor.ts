import type { CDPSession, Protocol } from 'puppeteer';
import type { BlockedRequests } from '../../options/core/option.ts';
import { documentHeaders, type HostedPage } from './document-host.ts';
import { DOCUMENT_ORIGIN, type OwnDocument } from './document-origin.ts';
import { PolicyRewriting } from './policy-rewriting.ts';
import { blockingPatterns, isBlocked } from './request-blocking.ts';

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
  #blocked: BlockedRequests | undefined;
  #mode: Mode = 'off';
  #rewriting: PolicyRewriting | undefined;
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
    this.#rewriting = new PolicyRewriting(this.#session, policy, this.#onLimitExceeded);
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
    this.#blocked = undefined;
    this.#rewriting?.end();
    this.#rewriting = undefined;
  }

  /** Applies the settings made since the last call. */
  async apply(): Promise<void> {
    const special = this.#assets || this.#rewriting || this.#blocked;
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
    if (this.#rewriting)
      patterns.push({ urlPattern: '*', requestStage: 'Response', resourceType: 'Document' });
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

  /** A response that was paused for a render that has ended since needs no policy. */
  async #continueResponse(event: Paused): Promise<void> {
    if (this.#rewriting) await this.#rewriting.continueResponse(event);
    else await this.#session.send('Fetch.continueResponse', { requestId: event.requestId });
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
