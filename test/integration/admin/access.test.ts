import assert from 'node:assert/strict';
import { adminRoutes } from '../../../src/http/admin/routes.ts';
import type { TestApi } from '../http/support/api.ts';
import { ANNA, BEN, type TestAdmin, useAdmin } from './support/admin.ts';

describe('Who may administer an installation', () => {
  const opened = useAdmin();
  let api: TestApi;
  let admin: TestAdmin;
  before(() => {
    ({ api, admin } = opened);
  });

  describe('who may', () => {
    it('tells nothing to whoever has no token, whatever is asked for', async () => {
      const bodies = new Set<string>();
      for (const { method, path } of adminRoutes) {
        const at = path.replace(':kind', 'nothing').replace(':id', 'nothing');
        const wrong: Record<string, string>[] = [
          {},
          { authorization: 'Bearer wrong' },
          { authorization: `Bearer ${ANNA}x` },
        ];
        for (const headers of wrong) {
          const reply = await admin.call(
            method.toUpperCase(),
            at,
            method === 'get' ? undefined : [],
            headers,
          );
          assert.equal(reply.status, 401, at);
          assert.match(reply.headers.get('www-authenticate')!, /^Basic realm=/);
          bodies.add(JSON.stringify({ ...reply.json, requestId: undefined }));
        }
      }
      assert.equal(bodies.size, 1);
    });

    it('takes a token as a bearer token, and as the password of a browser', async () => {
      const basic = `Basic ${Buffer.from(`anyone:${BEN}`).toString('base64')}`;
      for (const authorization of [`Bearer ${BEN}`, `bearer  ${BEN}`, basic])
        assert.equal(
          (await admin.call('GET', '/admin/api/workers', undefined, { authorization })).status,
          200,
        );
    });

    it('refuses changes that another origin asks for, and by a password those without an origin', async () => {
      const { accountId } = await api.newCaller();
      const path = `/admin/api/accounts/${accountId}/suspend`;
      const basic = { authorization: `Basic ${Buffer.from(`:${ANNA}`).toString('base64')}` };
      const bearer = { authorization: `Bearer ${ANNA}` };
      for (const headers of [
        basic,
        { ...basic, origin: 'https://elsewhere.example' },
        { ...bearer, origin: 'https://elsewhere.example' },
        { ...bearer, 'sec-fetch-site': 'cross-site' },
        { ...basic, 'sec-fetch-site': 'same-site' },
      ]) {
        const reply = await admin.call('POST', path, { reason: 'x' }, headers);
        assert.equal(reply.status, 403);
        assert.equal(reply.json.code, 'ORIGIN_NOT_ALLOWED');
      }
      assert.equal((await api.accounts.findNow(accountId))?.suspendedAt, undefined);
      const own = await admin.call('POST', path, { reason: 'x' }, { ...basic, origin: admin.url });
      assert.equal(own.status, 200);
    });

    it('is not on the port of callers, with a token or without', async () => {
      const either: Record<string, string>[] = [{}, { authorization: `Bearer ${ANNA}` }];
      for (const headers of either)
        for (const path of ['/admin', '/admin/api/accounts', '/admin/api/queue'])
          assert.equal((await fetch(`${api.url}${path}`, { headers })).status, 404);
    });
  });
});
