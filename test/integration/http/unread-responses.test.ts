import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { ResponseBounds } from '../../../src/infra/overload/unread-responses.ts';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { startMongo } from '../../support/mongo.ts';
import { stall } from '../../support/stall.ts';
import { openApi, type TestApi } from './support/api.ts';

const MIB = 1024 * 1024;
/** Together more than the socket buffers between a process and a caller that does not read. */
const CONTENT = 'x'.repeat(9.5 * MIB);
const SAMPLE = JSON.stringify('x'.repeat(4.5 * MIB));

describe('Unread responses', () => {
  let uri: string;
  let api: TestApi;
  const responses: IncomingMessage[] = [];

  before(async () => {
    ({ uri } = await startMongo());
  });
  afterEach(async () => {
    for (const response of responses.splice(0)) response.destroy();
    await api.close();
  });

  async function open(responseBounds: Partial<ResponseBounds>): Promise<void> {
    api = await openApi({ uri, responseBounds });
  }

  /** An account with a template of 14 MiB. @returns a function that requests it and leaves the response unread. */
  async function reader(): Promise<{
    client: AccountClient;
    path: string;
    send: () => Promise<IncomingMessage>;
  }> {
    const client = await signUp(api.url);
    const { id: accountId } = await client.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(accountId, 'business');
    const { id } = await client.expect(201, 'POST', '/user/templates', { name: 'large', content: CONTENT });
    const path = `/user/templates/${id}`;
    await client.expect(200, 'PATCH', path, { sampleData: SAMPLE });
    const headers = { authorization: `Bearer ${client.token}` };
    const send = async () => {
      const response = await stall(api.url + path, { headers });
      responses.push(response);
      return response;
    };
    return { client, path, send };
  }

  it('are bounded for an account, whose next request is rejected until they are read or closed', async () => {
    await open({ perOwner: 32 * MIB });
    const { client, path, send } = await reader();
    const first = await send();
    const second = await send();
    assert.deepEqual([first.statusCode, second.statusCode], [200, 200]);
    for (const target of [path, '/user/templates']) {
      const rejected = await client.get(target);
      assert.deepEqual([rejected.status, rejected.json.code], [429, 'TOO_MANY_WAITING'], target);
      assert.ok(Number(rejected.headers.get('retry-after')) > 0);
    }
    await (await reader()).client.expect(200, 'GET', '/user/templates');
    assert.equal((await client.get('/auth/me')).status, 200, 'small answers go on');
    first.resume();
    await once(first, 'end');
    second.destroy();
    await eventually('nothing is held', () => api.unread.bytes === 0);
    await client.expect(200, 'GET', path);
  });

  it('past the bound are rejected before the request is processed', async () => {
    await open({ perOwner: 15 * MIB });
    const { client, path, send } = await reader();
    await send();
    const rejected = await client.call('PATCH', path, { name: 'another' });
    assert.deepEqual([rejected.status, rejected.json.code], [429, 'TOO_MANY_WAITING']);
    for (const response of responses) response.destroy();
    await eventually('nothing is held', () => api.unread.bytes === 0);
    assert.equal((await client.expect(200, 'GET', path)).name, 'large');
  });

  it('of the account with the most are evicted for an account with fewer', async () => {
    await open({ inAll: 40 * MIB, perOwner: 32 * MIB });
    const one = await reader();
    const other = await reader();
    const held = [await one.send(), await one.send()];
    let closed = 0;
    for (const response of held) response.once('close', () => closed++).resume();
    for (const response of held) response.pause();
    const response = await other.client.expect(200, 'GET', other.path);
    assert.equal(response.content.length, CONTENT.length);
    for (const left of held) left.resume();
    await eventually('both are over', () => closed === 2);
    assert.deepEqual(
      held.map(({ complete }) => complete).sort(),
      [false, true],
      'one of them was broken off',
    );
  });

  it('are closed only when they are read too slowly', async () => {
    await open({ graceMs: 4000, leastRate: 1024 * MIB });
    const { client, path, send } = await reader();
    await client.expect(200, 'GET', path);
    await send();
    await send();
    assert.ok(api.unread.bytes >= 28 * MIB);
    await eventually('nothing is held', () => api.unread.bytes === 0);
  });
});
