import assert from 'node:assert/strict';
import { callApi } from '../integration/http/support/api.ts';
import { newEmail, PASSWORD, signUp } from './account-client.ts';
import type { Reply } from './send.ts';

/** The header of a browser's requests from a page of the public origin. */
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

/** A signed-in browser, over real HTTP; every response is checked against the declaration of its route. */
export class Browser {
  readonly url: string;
  readonly email: string;
  /** What it sends in the header Cookie. */
  cookie: string;

  constructor(url: string, email: string, cookie: string) {
    this.url = url;
    this.email = email;
    this.cookie = cookie;
  }

  call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = SAME_ORIGIN,
  ): Promise<Reply> {
    return callApi(this.url, method, path, body, { cookie: this.cookie, ...headers });
  }

  /** The body of a response that must have the status. */
  async expect(status: number, method: string, path: string, body?: unknown) {
    const response = await this.call(method, path, body);
    assert.equal(response.status, status, Buffer.from(response.bytes).toString().slice(0, 500));
    return response.json;
  }

  /** The same browser at another process. */
  at(url: string): Browser {
    return new Browser(url, this.email, this.cookie);
  }
}

/** The cookie that a response sets, as a browser sends it back. */
export function cookieOf(response: Reply): string {
  const [set = ''] = response.headers.getSetCookie();
  return set.split(';')[0]!;
}

/** The browser of a person that has an account, or has just signed up. */
export async function openBrowser(url: string, known?: string): Promise<Browser> {
  const email = known ?? newEmail();
  if (known === undefined) await signUp(url, email);
  const credentials = { email, password: PASSWORD };
  const response = await callApi(url, 'POST', '/auth/session', credentials, SAME_ORIGIN);
  assert.equal(response.status, 201, Buffer.from(response.bytes).toString().slice(0, 300));
  return new Browser(url, email, cookieOf(response));
}
