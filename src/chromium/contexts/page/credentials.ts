import type { CDPSession, Protocol } from 'puppeteer';
import type { LoadSettings } from '../../../options/core/option.ts';
import { DOCUMENT_ORIGIN } from './document-origin.ts';
import type { AssetHeaders } from './interceptor.ts';

/** What decides, besides asset headers, which requests a document makes and what comes of them. */
type RequestSettings = Pick<LoadSettings, 'userAgent' | 'language' | 'cookies' | 'blocked'>;

/** An address with a user name, as XMLHttpRequest makes it too of the one that it is given. */
const WITH_PASSWORD = /^https?:\/\/[^/?#]*@/;

/**
 * Under which credentials a context has fetched what it keeps. Its HTTP cache knows nothing of asset headers or cookies
 * unless a server names them in `Vary`, and what it holds must not be shown under any others.
 */
export class Credentials {
  readonly #session: CDPSession;
  /** What the cache was filled under; undefined before the first job. */
  #cachedUnder: string | undefined;
  /**
   * Whether a document may have given the context a user name and password, in an address or by XMLHttpRequest. It then
   * sends them to the same server ever after (RFC 9110, section 11.6.2), and no command makes it forget them.
   */
  remembered = false;

  /** @param unseen whether requests of a document from elsewhere would not be reported. */
  constructor(session: CDPSession, unseen: (frame: Protocol.Page.Frame) => boolean) {
    this.#session = session;
    session.on('Network.requestWillBeSent', ({ request }: Protocol.Network.RequestWillBeSentEvent) => {
      if (WITH_PASSWORD.test(request.url)) this.remembered = true;
    });
    session.on('Page.frameNavigated', ({ frame }: Protocol.Page.FrameNavigatedEvent) => {
      const elsewhere = /^https?:/.test(frame.url) && !frame.url.startsWith(`${DOCUMENT_ORIGIN}/`);
      if (elsewhere && unseen(frame)) this.remembered = true;
    });
  }

  /**
   * Begins a job under `assets` and what else its requests are sent with, which may take what a job under the same has left
   * in the cache, and nothing else.
   */
  async begin(
    assets: Pick<AssetHeaders, 'headers' | 'audience'> | undefined,
    { userAgent, language, cookies, blocked }: RequestSettings = {},
  ): Promise<void> {
    const key = JSON.stringify([assets?.headers, assets?.audience, userAgent, language, cookies, blocked]);
    const before = this.#cachedUnder;
    this.#cachedUnder = key;
    if (before !== undefined && before !== key) await this.clearCache();
  }

  /** Empties the HTTP cache, and the one that the renderer process has in its memory. */
  async clearCache(): Promise<void> {
    await Promise.all([
      this.#session.send('Network.clearBrowserCache'),
      // Switching the cache off is what evicts the memory cache.
      this.#session.send('Network.setCacheDisabled', { cacheDisabled: true }),
      this.#session.send('Network.setCacheDisabled', { cacheDisabled: false }),
    ]);
  }
}
