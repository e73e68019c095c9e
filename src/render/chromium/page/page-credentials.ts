import type { CDPSession, Protocol } from 'puppeteer';
import type { LoadSettings } from '../../options/core/option.ts';
import { DOCUMENT_ORIGIN } from './document-origin.ts';
import type { AssetHeaders } from './interceptor.ts';

/** The settings that, in addition to asset headers, decide which requests a document makes and what they return. */
type RequestSettings = Pick<LoadSettings, 'userAgent' | 'language' | 'cookies' | 'blocked'>;

/** An address with a user name. XMLHttpRequest also makes such an address when it is given a user name. */
const WITH_PASSWORD = /^https?:\/\/[^/?#]*@/;

/**
 * Keeps track of the credentials under which a context has filled its HTTP cache. The cache distinguishes asset headers
 * or cookies only if a server names them in `Vary`, and a cached response must not be shown under other credentials.
 */
export class Credentials {
  readonly #session: CDPSession;
  /** The credentials that the cache was filled under; undefined before the first job. */
  #cachedUnder: string | undefined;
  /**
   * Whether a document may have given the context a user name and password, in an address or by XMLHttpRequest. The
   * context then sends them to that server from now on (RFC 9110, section 11.6.2), and no command removes them.
   */
  remembered = false;

  /** @param unseen returns whether the requests of a document from another origin would not be reported. */
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
   * Begins a job with `assets` and its other request settings. The job may only use cache entries of jobs with the same
   * settings; the cache is cleared when they differ.
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

  /** Empties the HTTP cache, and the memory cache of the renderer process. */
  async clearCache(): Promise<void> {
    await Promise.all([
      this.#session.send('Network.clearBrowserCache'),
      // Turning the cache off evicts the memory cache.
      this.#session.send('Network.setCacheDisabled', { cacheDisabled: true }),
      this.#session.send('Network.setCacheDisabled', { cacheDisabled: false }),
    ]);
  }
}
