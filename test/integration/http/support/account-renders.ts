import assert from 'node:assert/strict';
import { PlatenError } from '../../../../src/infra/errors/registry.ts';
import { AccountClient } from '../../../support/account-client.ts';
import { eventually } from '../../../support/eventually.ts';
import { type TestCaller, useApi } from './api.ts';

export const HTML = '<p>x</p>';

/** The renders of an account, by its key and by an access token, and a stranger; an account anew for each test. */
export function useAccountRenders() {
  const api = useApi({ plan: { concurrentRenders: 1, retentionHours: 2 } });
  const account = {} as { caller: TestCaller; owner: AccountClient; stranger: AccountClient };

  beforeEach(async () => {
    api.worker.render = async () => ({ pages: 1 });
    account.caller = await api.newCaller();
    account.owner = await asAccount(account.caller);
    account.stranger = await asAccount(await api.newCaller());
  });

  async function asAccount({ accountId }: TestCaller): Promise<AccountClient> {
    return new AccountClient(api.url, (await api.tenants.tokens.issue(accountId)).token);
  }

  async function ended(jobId: string, by = account.owner) {
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into the body
    let render: any;
    await eventually('the job has ended', async () => {
      render = await by.expect(200, 'GET', `/user/renders/${jobId}`);
      return ['completed', 'failed', 'cancelled'].includes(render.status);
    });
    return render;
  }

  async function failed(body: object = { html: HTML }): Promise<string> {
    api.worker.render = async () => ({ fails: new PlatenError('SELECTOR_TIMEOUT') });
    const { jobId } = (await account.caller.render({ executionMode: 'async', ...body })).json;
    await ended(jobId);
    api.worker.render = async () => ({ pages: 1 });
    return jobId;
  }

  async function assertRejected(status: number, code: string, method: string, path: string, body?: unknown) {
    const response = await account.owner.call(method, path, body);
    assert.deepEqual([response.status, response.json.code], [status, code], path);
    return response.json;
  }

  return { api, account, ended, failed, assertRejected };
}
