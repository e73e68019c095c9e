import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { callApi } from '../integration/http/support/api.ts';
import type { Reply } from './send.ts';

export const PASSWORD = 'correct horse battery staple';

/** A signed-in person, over real HTTP; every response is checked against the declaration of its route. */
export class AccountClient {
  readonly url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** The same session at another process. */
  at(url: string): AccountClient {
    return new AccountClient(url, this.token);
  }

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return callApi(this.url, method, path, body, { authorization: `Bearer ${this.token}`, ...headers });
  }

  get(path: string): Promise<Reply> {
    return this.call('GET', path);
  }

  /** The body of a response that must have the status. */
  async expect(status: number, method: string, path: string, body?: unknown) {
    const response = await this.call(method, path, body);
    assert.equal(response.status, status, Buffer.from(response.bytes).toString().slice(0, 500));
    return response.json;
  }
}

export function newEmail(): string {
  return `${randomUUID()}@example.com`;
}

/** A person that has just signed up: on the free plan. */
export async function signUp(url: string, email = newEmail()): Promise<AccountClient> {
  const response = await callApi(url, 'POST', '/auth/register', { email, password: PASSWORD });
  assert.equal(response.status, 201, Buffer.from(response.bytes).toString().slice(0, 300));
  return new AccountClient(url, response.json.accessToken);
}
