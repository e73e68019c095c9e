import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { HTML, useAccountRenders } from './support/account-renders.ts';
import { latch } from './support/test-worker.ts';

describe('Renders that have failed', () => {
  const { api, account, ended, failed, assertRejected } = useAccountRenders();

  it('keep the input of a failed job, without its secrets', async () => {
    const cookie = { name: 'session', domain: 'reports.example' };
    const options = {
      assetHeaders: { 'X-Secret': 'hunter2' },
      cookies: [{ ...cookie, value: 'hunter2' }],
      protection: { userPassword: 'hunter2', ownerPassword: 'hunter3', permissions: { copy: false } },
      scale: 0.5,
      timeoutMs: 20_000,
    };
    const jobId = await failed({ html: '<p>it fails</p>', options });
    const response = await account.owner.get(`/user/renders/${jobId}/input`);
    assert.deepEqual(response.json, {
      html: '<p>it fails</p>',
      options: {
        ...options,
        assetHeaders: { 'X-Secret': '***' },
        cookies: [{ ...cookie, value: '***' }],
        protection: { userPassword: '***', ownerPassword: '***', permissions: { copy: false } },
      },
    });
    assert.equal((await account.owner.expect(200, 'GET', `/user/renders/${jobId}`)).inputAvailable, true);
    const completed = await account.caller.completed();
    await assertRejected(410, 'GONE', 'GET', `/user/renders/${completed}/input`);
  });

  it('are retried with their old input, as a new job that uses quota', async () => {
    const { id: templateId } = await account.owner.expect(201, 'POST', '/user/templates', {
      name: 't',
      content: '<p>{{ a }}</p>',
    });
    const options = { assetHeaders: { 'X-Secret': 'hunter2' } };
    const jobId = await failed({ templateId, data: { a: 1 }, filename: 'again', options });
    await account.owner.expect(200, 'DELETE', `/user/templates/${templateId}`);
    const { remaining } = await account.owner.expect(200, 'GET', '/user/usage');
    let seen: unknown;
    api.worker.render = async (_job, input) => {
      seen = [input.source.mode === 'template' && input.source.content, input.options.assetHeaders];
      return { pages: 3 };
    };
    const again = await account.owner.expect(202, 'POST', `/user/renders/${jobId}/retry`);
    assert.notEqual(again.jobId, jobId);
    assert.equal(again.retryOf, jobId);
    const render = await ended(again.jobId);
    assert.deepEqual(
      [render.status, render.pages, render.retryOf, render.templateId, render.fileName, render.mode],
      ['completed', 3, jobId, templateId, 'again.pdf', 'live'],
    );
    assert.deepEqual(seen, ['<p>{{ a }}</p>', options.assetHeaders]);
    assert.equal((await account.owner.expect(200, 'GET', '/user/usage')).remaining, remaining - 1);
    assert.equal((await ended(jobId)).status, 'failed', 'the old one stays as it is');
  });

  it('requested or retried with an Idempotency-Key are one, however often the request is sent', async () => {
    const [first, second] = [await failed(), await failed()];
    const paths: [string, object | undefined][] = [
      ['/user/renders', { html: HTML }],
      [`/user/renders/${first}/retry`, undefined],
    ];
    for (const [path, body] of paths) {
      const click = () => account.owner.call('POST', path, body, { 'idempotency-key': 'a click' });
      const { total } = await account.owner.expect(200, 'GET', '/user/renders');
      const both = await Promise.all([click(), click()]);
      const done = both.filter(({ status }) => status === 202);
      // The second request arrives while the first is processed, or after it.
      for (const reply of both.filter((one) => !done.includes(one)))
        assert.equal(reply.json.code, 'IDEMPOTENCY_IN_PROGRESS');
      const again = await click();
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [202, 'true']);
      for (const { json } of done) assert.deepEqual(json, again.json);
      // While the job ends it may be counted both as in flight and as ended.
      await ended(again.json.jobId);
      assert.equal((await account.owner.expect(200, 'GET', '/user/renders')).total, total + 1, path);
    }
    const other = await account.owner.call('POST', `/user/renders/${second}/retry`, undefined, {
      'idempotency-key': 'a click',
    });
    assert.deepEqual([other.status, other.json.code], [409, 'IDEMPOTENCY_MISMATCH']);
  });

  it('can be retried with the Idempotency-Key of a rejected retry', async () => {
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { fails: new PlatenError('SELECTOR_TIMEOUT') };
    };
    const { jobId } = (await account.caller.render({ html: HTML, executionMode: 'async' })).json;
    const click = () =>
      account.owner.call('POST', `/user/renders/${jobId}/retry`, undefined, { 'idempotency-key': 'a click' });
    assert.equal((await click()).json.code, 'NOT_RETRYABLE');
    gate.open();
    await ended(jobId);
    assert.equal((await click()).status, 202);
  });

  it('cannot be retried while they are live, once they are completed, or when their input is deleted', async () => {
    const completed = await account.caller.completed();
    await assertRejected(409, 'NOT_RETRYABLE', 'POST', `/user/renders/${completed}/retry`);
    const jobId = await failed();
    // Its input leaves the record of the job when the job is moved to the history.
    await api.domain.flush();
    await api.domain.store.inputs.delete([jobId]);
    await assertRejected(410, 'GONE', 'POST', `/user/renders/${jobId}/retry`);
    assert.equal((await account.owner.expect(200, 'GET', `/user/renders/${jobId}`)).inputAvailable, false);
  });
});
