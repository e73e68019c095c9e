import type { CDPSession, Protocol } from 'puppeteer';

type Paused = Protocol.Fetch.RequestPausedEvent;
type Answer = Protocol.Fetch.FulfillRequestRequest;

/** Headers for some of a document's requests. */
export interface AssetHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a request to `url` gets them. */
  readonly allowed: (url: URL) => boolean;
}

/**
 * Steps between the page and the network, for the jobs that need it: answers requests to the context's own origin, and
 * adds asset headers. Switched off it costs nothing; switched on every request it names makes a detour through here.
 */
export class Interceptor {
  readonly #session: CDPSession;
  #own: { prefix: string; answer: (event: Paused) => Answer } | undefined;
  #assets: AssetHeaders | undefined;
  #policy: string | undefined;
  #applied = false;

  constructor(session: CDPSession) {
    this.#session = session;
    session.on('Fetch.requestPaused', (event: Paused) => {
      this.#handle(event).catch(() => undefined);
    });
  }

  /** Has requests that begin with `prefix` answered by `answer`. In force after `apply`. */
  answer(prefix: string, answer: (event: Paused) => Answer): void {
    this.#own = { prefix, answer };
  }

  /** Has headers added. In force after `apply`. */
  addHeaders(assets: AssetHeaders): void {
    this.#assets = assets;
  }

  /** Has documents loaded under a further Content-Security-Policy. In force after `apply`. */
  addPolicy(policy: string): void {
    this.#policy = policy;
  }

  /** Puts in force what was asked for, if anything. */
  async apply(): Promise<void> {
    const patterns: Protocol.Fetch.RequestPattern[] = [];
    if (this.#assets) patterns.push({ urlPattern: '*', requestStage: 'Request' });
    else if (this.#own) patterns.push({ urlPattern: `${this.#own.prefix}*`, requestStage: 'Request' });
    if (this.#policy) patterns.push({ urlPattern: '*', requestStage: 'Response', resourceType: 'Document' });
    if (patterns.length === 0) return;
    this.#applied = true;
    await this.#session.send('Fetch.enable', { patterns });
  }

  /** Steps aside. */
  async clear(): Promise<void> {
    this.#own = undefined;
    this.#assets = undefined;
    this.#policy = undefined;
    if (!this.#applied) return;
    this.#applied = false;
    await this.#session.send('Fetch.disable');
  }

  async #handle(event: Paused): Promise<void> {
    if (this.#own && event.request.url.startsWith(this.#own.prefix)) {
      await this.#session.send('Fetch.fulfillRequest', this.#own.answer(event));
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

  /** The answer's own policy stays in force: policies only ever add up. */
  async #continueResponse({ requestId, responseHeaders, responseStatusCode }: Paused): Promise<void> {
    const added = { name: 'Content-Security-Policy', value: this.#policy ?? '' };
    await this.#session.send('Fetch.continueResponse', {
      requestId,
      ...(responseStatusCode !== undefined &&
        !isRedirect(responseStatusCode) && {
          responseCode: responseStatusCode,
          responseHeaders: [...(responseHeaders ?? []), added],
        }),
    });
  }

  /** A redirected request still carries what was added to the one before it: where it may not go it is taken off. */
  #headersFor({ request, redirectedRequestId }: Paused): { headers?: Protocol.Fetch.HeaderEntry[] } {
    if (!this.#assets || !URL.canParse(request.url)) return {};
    const allowed = this.#assets.allowed(new URL(request.url));
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
