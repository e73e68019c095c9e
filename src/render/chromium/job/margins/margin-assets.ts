import { type AssetClient, AssetError, isFetchable } from '../../../../infra/egress/asset-client.ts';
import type { EgressRecord } from '../../../../infra/egress/egress-record.ts';
import type { BlockedRequests } from '../../../options/core/option.ts';
import type { Findings } from '../../../report/findings.ts';
import type { LoggedRequest } from '../../../report/recorded-requests.ts';
import { matchesPattern } from '../../page/url-pattern.ts';
import { type CssAddressKind, quotable, replaceAddresses } from './css-addresses.ts';

/** Files of one render, in all of its headers and footers. */
const MAX_FILES = 64;
/** Bytes of one file. */
export const MAX_FILE_BYTES = 2 * 1024 * 1024;
/** Characters of all files as they are put into headers and footers, each as often as it is used there. */
const MAX_INLINED = 4 * 1024 * 1024;
/** Style sheets that import each other, one in another. */
const MAX_DEPTH = 4;

/** The types of requests by which `blockRequests` names them. */
const BLOCKED_AS = { stylesheet: 'Stylesheet', font: 'Font', image: 'Image' } as const;

export interface MarginAssetsDeps {
  /** Undefined where there is no network. */
  readonly client: AssetClient | undefined;
  readonly egress: EgressRecord | undefined;
  readonly findings: Findings | undefined;
  readonly blocked: BlockedRequests | undefined;
  readonly headersFor: (url: URL, first: URL) => Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

interface File {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly url: URL;
}

/**
 * The files that headers and footers of one render refer to. Chromium prints these from a document without network, in
 * which a style sheet or a font by its address ends the page: so they are fetched beforehand, and put in as `data:`.
 */
export class MarginAssets {
  readonly #deps: MarginAssetsDeps;
  readonly #files = new Map<string, Promise<File | undefined>>();
  /** The `data:` addresses of fonts. */
  readonly fonts = new Set<string>();
  #inlined = 0;

  constructor(deps: MarginAssetsDeps) {
    this.#deps = deps;
  }

  /**
   * The `data:` address for an address; undefined where that is not fetched, or not received. Never rejects.
   *
   * @param base what a relative address is resolved against, if there is anything.
   */
  async dataUrl(
    address: string,
    kind: CssAddressKind,
    base: string | undefined,
    importedBy: readonly string[] = [],
  ): Promise<string | undefined> {
    const url = URL.parse(address, base);
    if (url === null) {
      if (address !== '')
        this.#deps.findings?.requests.relative((redactor) => redactor.address(address), kind);
      return undefined;
    }
    if (url.protocol === 'data:') {
      if (kind === 'font') this.fonts.add(quotable(address));
      return kind === 'stylesheet' ? this.#ownSheet(address, base, importedBy) : address;
    }
    if (!isFetchable(url)) return undefined;
    url.hash = '';
    const file = await this.#file(url, kind);
    if (file === undefined || importedBy.includes(url.href) || importedBy.length >= MAX_DEPTH)
      return undefined;
    if (kind !== 'stylesheet') {
      const data = this.#inline(file.mediaType, file.bytes, url);
      if (kind === 'font' && data !== undefined) this.fonts.add(data);
      return data;
    }
    const css = await this.sheet(file.bytes.toString(), file.url.href, [...importedBy, url.href]);
    return this.#inline('text/css', Buffer.from(css), url);
  }

  /** A style sheet with `data:` addresses. */
  sheet(css: string, base: string | undefined, importedBy: readonly string[] = []): Promise<string> {
    return replaceAddresses(css, (address, kind) => this.dataUrl(address, kind, base, importedBy));
  }

  /** A style sheet that is in a `data:` address may import others. */
  async #ownSheet(
    address: string,
    base: string | undefined,
    importedBy: readonly string[],
  ): Promise<string | undefined> {
    if (importedBy.length >= MAX_DEPTH) return undefined;
    const text = await fetch(address).then(
      (response) => response.text(),
      () => undefined,
    );
    if (text === undefined) return undefined;
    const css = await this.sheet(text, base, [...importedBy, 'data:']);
    return this.#inline('text/css', Buffer.from(css), undefined);
  }

  #inline(mediaType: string, bytes: Buffer, url: URL | undefined): string | undefined {
    const data = `data:${mediaType};base64,${bytes.toString('base64')}`;
    if (this.#inlined + data.length <= MAX_INLINED) {
      this.#inlined += data.length;
      return data;
    }
    if (url !== undefined) this.#reject(url, 'image', 'too much for headers and footers together');
    return undefined;
  }

  #file(url: URL, kind: CssAddressKind): Promise<File | undefined> {
    const known = this.#files.get(url.href);
    if (known !== undefined) return known;
    if (this.#files.size >= MAX_FILES) {
      this.#reject(url, kind, `more than ${MAX_FILES} files in headers and footers`);
      return Promise.resolve(undefined);
    }
    const file = this.#fetch(url, kind);
    this.#files.set(url.href, file);
    return file;
  }

  async #fetch(url: URL, kind: CssAddressKind): Promise<File | undefined> {
    const { client, egress, findings, blocked, headersFor, signal } = this.#deps;
    const id = `margin ${url.href}`;
    const since = Date.now();
    findings?.requests.sent(id, { url: url.href, kind, main: false });
    const ended = (known: Partial<LoggedRequest>) => {
      findings?.requests.ended(id, () => known);
      return undefined;
    };
    const { urls = [], kinds = [] } = blocked ?? {};
    if (kinds.includes(BLOCKED_AS[kind]) || urls.some((pattern) => matchesPattern(url.href, pattern)))
      return ended({ outcome: 'blocked', rule: 'blockRequests' });
    if (client === undefined) return ended({ outcome: 'unreachable', error: 'no network' });
    try {
      const response = await client.get(url, { headersFor, maxBytes: MAX_FILE_BYTES, signal });
      const { status, bytes, mediaType } = response;
      if (status >= 400) return ended({ outcome: 'error', status });
      ended({ outcome: 'loaded', status, bytes: bytes.byteLength });
      return { bytes, mediaType, url: response.url };
    } catch (error) {
      if (egress?.wasBlocked(url.hostname, since)) return ended({ outcome: 'blocked', rule: 'egress' });
      const why = signal.aborted ? 'no response in time' : 'no response';
      return ended({ outcome: 'unreachable', error: error instanceof AssetError ? error.message : why });
    }
  }

  /** Records, once, a file that is not put in. */
  #reject(url: URL, kind: CssAddressKind, error: string): void {
    const id = `margin rejected ${url.href}`;
    const { requests } = this.#deps.findings ?? {};
    if (requests === undefined || this.#files.has(id)) return;
    if (this.#files.size < 2 * MAX_FILES) this.#files.set(id, Promise.resolve(undefined));
    requests.sent(id, { url: url.href, kind, main: false });
    requests.ended(id, () => ({ outcome: 'unreachable', error }));
  }
}
