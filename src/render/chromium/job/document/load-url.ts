import type { Protocol } from 'puppeteer';
import type { EgressRecord } from '../../../../infra/egress/egress-record.ts';
import { PlatenError } from '../../../../infra/errors/registry.ts';
import { PDF } from '../../../../infra/outputs/media-type.ts';
import type { RenderPage } from '../../page/render-page.ts';
import type { JobDocument } from './job-document.ts';

/** Header by which the egress proxy marks its own responses. */
const EGRESS_HEADER = 'x-platen-egress';

/** Client errors that may be temporary: Request Timeout, Too Early, Too Many Requests. */
const PASSING_STATUS = new Set([408, 425, 429]);

/** Network errors that a retry would meet again. */
const LASTING_ERRORS =
  /ERR_(NAME_NOT_RESOLVED|TOO_MANY_REDIRECTS|CERT_|SSL_|UNSAFE_|INVALID_URL|BLOCKED|UNKNOWN_URL_SCHEME)/;

/** Follows the requests of the page's main document, redirects included. */
class MainRequest {
  readonly #session: RenderPage['session'];
  readonly #frameId: string;
  readonly #since = Date.now();
  readonly #egress: EgressRecord | undefined;
  #response: Protocol.Network.Response | undefined;
  #url = '';

  constructor(page: RenderPage, egress: EgressRecord | undefined) {
    this.#session = page.session;
    this.#frameId = page.frameId;
    this.#egress = egress;
    this.#session.on('Network.requestWillBeSent', this.#onRequest);
    this.#session.on('Network.responseReceived', this.#onResponse);
  }

  stop(): void {
    this.#session.off('Network.requestWillBeSent', this.#onRequest);
    this.#session.off('Network.responseReceived', this.#onResponse);
  }

  /**
   * @param errorPages whether an error response is taken for the page.
   * @throws PlatenError when the main document was blocked or unreachable, is an error response, or is not a web page.
   */
  check(errorText: string | undefined, errorPages = false): void {
    this.#checkEgress();
    if (errorText !== undefined && !this.#isErrorPage()) throw this.#failure(errorText);
    const { status = 200, mimeType = 'text/html' } = this.#response ?? {};
    if (status >= 400 && !(errorPages && errorText === undefined)) {
      throw new PlatenError('URL_UNREACHABLE', `The source URL answered with status ${status}.`, {
        permanent: status < 500 && !PASSING_STATUS.has(status),
      });
    }
    if (mimeType === PDF) throw notAPage(mimeType);
  }

  readonly #onRequest = (event: Protocol.Network.RequestWillBeSentEvent): void => {
    if (event.frameId === this.#frameId && event.type === 'Document') this.#url = event.request.url;
  };

  readonly #onResponse = (event: Protocol.Network.ResponseReceivedEvent): void => {
    if (event.frameId === this.#frameId && event.type === 'Document') this.#response = event.response;
  };

  /** An error status without a body is reported as a failed load. */
  #isErrorPage(): boolean {
    return (this.#response?.status ?? 0) >= 400;
  }

  #checkEgress(): void {
    const mark = Object.entries(this.#response?.headers ?? {}).find(
      ([name]) => name.toLowerCase() === EGRESS_HEADER,
    )?.[1];
    // Over TLS the header can only come from the origin itself.
    const error = this.#response?.url.startsWith('http:') ? mark : undefined;
    const failed = this.#response === undefined;
    const hostname = URL.canParse(this.#url) ? new URL(this.#url).hostname : '';
    if (error === 'blocked' || (failed && this.#egress?.wasBlocked(hostname, this.#since))) {
      throw new PlatenError('URL_BLOCKED', `The source URL leads to ${hostname}, which may not be reached.`);
    }
    if (error === 'unresolvable' || (failed && this.#egress?.wasUnresolvable(hostname, this.#since))) {
      throw new PlatenError('URL_UNREACHABLE', `The host ${hostname} does not exist.`, { permanent: true });
    }
    if (error !== undefined) throw new PlatenError('URL_UNREACHABLE', `${hostname} cannot be reached.`);
  }

  #failure(errorText: string): PlatenError {
    if (errorText === 'net::ERR_ABORTED') return notAPage(this.#response?.mimeType);
    return new PlatenError('URL_UNREACHABLE', `The source URL could not be loaded (${errorText}).`, {
      permanent: LASTING_ERRORS.test(errorText),
    });
  }
}

/** Opens a source URL in the page. @throws PlatenError INVALID_URL, URL_BLOCKED or URL_UNREACHABLE. */
export async function openUrl(
  page: RenderPage,
  { source, settings: { scriptEnabled, milestone, policy, errorPages } }: JobDocument,
  { egress }: { readonly egress: EgressRecord | undefined },
): Promise<void> {
  const url = URL.parse(source);
  if (!url || !/^https?:$/.test(url.protocol)) throw new PlatenError('INVALID_URL');
  const { interceptor, lifecycle } = page;
  if (policy) interceptor.addPolicy(policy);
  const request = new MainRequest(page, egress);
  try {
    const { loaderId, errorText } = await page.navigate(source, { script: scriptEnabled, network: true });
    request.check(errorText, errorPages);
    if (loaderId === undefined) throw notAPage(undefined);
    await lifecycle.until(milestone, loaderId);
  } finally {
    request.stop();
  }
}

/** @throws PlatenError when the document has navigated the page to an address that cannot be loaded. */
export function checkArrived(page: RenderPage, egress: EgressRecord | undefined, sinceEpochMs: number): void {
  const { unreachableUrl } = page.lifecycle;
  if (unreachableUrl === undefined) return;
  const hostname = URL.parse(unreachableUrl)?.hostname ?? unreachableUrl;
  if (egress?.wasBlocked(hostname, sinceEpochMs)) {
    throw new PlatenError('URL_BLOCKED', `The document leads to ${hostname}, which may not be reached.`);
  }
  throw new PlatenError('URL_UNREACHABLE', `The document leads to ${hostname}, which cannot be loaded.`);
}

function notAPage(mimeType: string | undefined): PlatenError {
  const what = mimeType ? ` but ${mimeType}` : '';
  return new PlatenError('URL_UNREACHABLE', `The source URL is not a web page${what}.`, { permanent: true });
}
