import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AnswerBounds } from '../../../src/http/unread-answers.ts';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { startMongo } from '../../support/mongo.ts';
import { stall } from '../../support/stall.ts';
import { openApi, type TestApi } from './support/api.ts';

const MIB = 1024 * 1024;
/** Together more than what lies between a process and a caller that does not read. */
const CONTENT = 'x'.repeat(9.5 * MIB);
const SAMPLE = JSON.stringify('x'.repeat(4.5 * MIB));

describe('answers that are not read', function () {
  this.timeout(60_000);
  let uri: string;
  let api: TestApi;
  const answers: IncomingMessage[] = [];

  before(async () => {
    ({ uri } = await startMongo());
  });
  afterEach(async () => {
    for (const answer of answers.splice(0)) answer.destroy();
    await api.close();
  });

  async function open(answerBounds: Partial<AnswerBounds>): Promise<void> {
    api = await openApi({ uri, answerBounds });
  }

  /** Somebody with a template of 14 MiB. @returns how it is asked for, and left unread. */
  async function reader(): Promise<{
    client: AccountClient;
    path: string;
    ask: () => Promise<IncomingMessage>;
  }> {
    const client = await signUp(api.url);
    const { id: accountId } = await client.expect(200, 'GET', '/auth/me');
    await api.accounts.setPlan(accountId, 'business');
    const { id } = await client.expect(201, 'POST', '/user/templates', { name: 'large', content: CONTENT });
    const path = `/user/templates/${id}`;
    await client.expect(200, 'PATCH', path, { sampleData: SAMPLE });
    const headers = { authorization: `Bearer ${client.token}` };
    const ask = async () => {
      const answer = await stall(api.url + path, { headers });
      answers.push(answer);
      return answer;
    };
    return { client, path, ask };
  }

  it('are bounded for an account, whose next one is refused until they are read or given up', async () => {
    await open({ bytesPerOwner: 32 * MIB });
    const { client, path, ask } = await reader();
    const first = await ask();
    const second = await ask();
    assert.deepEqual([first.statusCode, second.statusCode], [200, 200]);
    for (const asked of [path, '/user/templates']) {
      const refused = await client.get(asked);
      assert.deepEqual([refused.status, refused.json.code], [429, 'TOO_MANY_WAITING'], asked);
      assert.ok(Number(refused.headers.get('retry-after')) > 0);
    }
    await (await reader()).client.expect(200, 'GET', '/user/templates');
    assert.equal((await client.get('/auth/me')).status, 200, 'small answers go on');
    first.resume();
    await once(first, 'end');
    second.destroy();
    await eventually('nothing is held', () => api.answers.bytes === 0);
    await client.expect(200, 'GET', path);
  });

  it('are refused before anything is done for them', async () => {
    await open({ bytesPerOwner: 15 * MIB });
    const { client, path, ask } = await reader();
    await ask();
    const refused = await client.call('PATCH', path, { name: 'another' });
    assert.deepEqual([refused.status, refused.json.code], [429, 'TOO_MANY_WAITING']);
    for (const answer of answers) answer.destroy();
    await eventually('nothing is held', () => api.answers.bytes === 0);
    assert.equal((await client.expect(200, 'GET', path)).name, 'large');
  });

  it('of whoever leaves most make room for somebody who leaves less', async () => {
    await open({ totalBytes: 40 * MIB, bytesPerOwner: 32 * MIB });
    const one = await reader();
    const other = await reader();
    const held = [await one.ask(), await one.ask()];
    let closed = 0;
    for (const answer of held) answer.once('close', () => closed++).resume();
    for (const answer of held) answer.pause();
    const answer = await other.client.expect(200, 'GET', other.path);
    assert.equal(answer.content.length, CONTENT.length);
    for (const left of held) left.resume();
    await eventually('both are over', () => closed === 2);
    assert.deepEqual(
      held.map(({ complete }) => complete).sort(),
      [false, true],
      'one of them was broken off',
    );
  });

  it('are given up when they are read too slowly, and not when they are read', async () => {
    await open({ graceMs: 4000, leastRate: 1024 * MIB });
    const { client, path, ask } = await reader();
    await client.expect(200, 'GET', path);
    await ask();
    await ask();
    assert.ok(api.answers.bytes >= 28 * MIB);
    await eventually('nothing is held', () => api.answers.bytes === 0);
  });
});
