import assert from 'node:assert/strict';
import { Agent, fetch, type RequestInit } from 'undici';
import { SERVER } from '../../../support/certificates.ts';
import type { Reply } from '../../../support/send.ts';

const trusting = new Agent({ connect: { ca: SERVER.cert } });

/** A client that keeps cookies by the host and port that set them, and follows redirects one by one. */
export class RedirectedBrowser {
  readonly cookies = new Map<string, Map<string, string>>();
  readonly #url: string;

  /** @param url of the service. */
  constructor(url: string) {
    this.#url = url;
  }

  async request(url: string, init: RequestInit = {}) {
    const jar = this.cookies.get(new URL(url).origin) ?? new Map<string, string>();
    this.cookies.set(new URL(url).origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), cookie };
    const response = await fetch(url, { redirect: 'manual', dispatcher: trusting, ...init, headers });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set)!;
      if (value === '' || /Max-Age=0/.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects from an address until one starts with the given text. @returns that address. */
  async until(url: string, end: string): Promise<string> {
    for (let steps = 0; steps < 12; steps += 1) {
      const response = await this.request(url);
      const text = await response.text();
      const to = response.headers.get('location');
      assert.ok(to, `${url} answers ${response.status}: ${text}`);
      url = new URL(to, url).href;
      if (url.startsWith(end)) return url;
    }
    throw new Error(`It goes round and round: ${url}`);
  }

  /** Signs in, from an address that redirects to the issuer, or straight back. @returns the address of the last page. */
  async signIn(start: string): Promise<string> {
    const pages = `${this.#url}/dashboard`;
    const back = await this.until(start, `${this.#url}/`);
    return back.startsWith(pages) ? back : this.until(back, pages);
  }

  async account() {
    const response = await this.request(`${this.#url}/auth/me`);
    return { ...((await response.json()) as Reply['json']), status: response.status };
  }

  /** A request of a page, with its status and body. */
  async call(method: string, path: string, body?: unknown) {
    const response = await this.request(this.#url + path, {
      method,
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Reply['json'] };
  }
}
