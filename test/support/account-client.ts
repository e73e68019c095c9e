import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { callApi } from '../integration/http/support/api.ts';
import type { Answer } from './send.ts';

export const PASSWORD = 'correct horse battery staple';

/** Somebody who is signed in, over real HTTP; every answer is held against what its route declares. */
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

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return callApi(this.url, method, path, body, { authorization: `Bearer ${this.token}`, ...headers });
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  /** The body of an answer that must have the status. */
  async expect(status: number, method: string, path: string, body?: unknown) {
    const answer = await this.call(method, path, body);
    assert.equal(answer.status, status, Buffer.from(answer.bytes).toString().slice(0, 500));
    return answer.json;
  }
}

export function newEmail(): string {
  return `${randomUUID()}@example.com`;
}

/** Somebody who has just signed up: on the free plan. */
export async function signUp(url: string, email = newEmail()): Promise<AccountClient> {
  const answer = await callApi(url, 'POST', '/auth/register', { email, password: PASSWORD });
  assert.equal(answer.status, 201, Buffer.from(answer.bytes).toString().slice(0, 300));
  return new AccountClient(url, answer.json.accessToken);
}
