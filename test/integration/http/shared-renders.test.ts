import assert from 'node:assert/strict';
import { DownloadLinks } from '../../../src/work/jobs/submission/download-links.ts';
import { readPdf } from '../../support/pdf.ts';
import { useAccountRenders } from './support/account-renders.ts';
import { SECRET } from './support/api.ts';

describe('Shared renders', () => {
  const { api, account, failed, assertRejected } = useAccountRenders();

  it("are shown in a frame of the dashboard's pages only, or saved", async () => {
    const jobId = await account.caller.completed({ filename: 'note' });
    const shown = await account.owner.get(`/user/renders/${jobId}/file`);
    assert.equal((await readPdf(shown.bytes)).pages.length, 1);
    assert.match(shown.headers.get('content-disposition')!, /^inline; filename=note\.pdf$/);
    assert.equal(shown.headers.get('content-security-policy'), "frame-ancestors 'self'");
    assert.equal(shown.headers.get('x-frame-options'), 'SAMEORIGIN');
    const saved = await account.owner.get(`/user/renders/${jobId}/file?download=true`);
    assert.match(saved.headers.get('content-disposition')!, /^attachment;/);
    await assertRejected(404, 'NOT_FOUND', 'GET', `/user/renders/${await failed()}/file`);
  });

  it('are shared by a link that ends at its time or with the PDF, and each link is in the audit log', async () => {
    const jobId = await account.caller.completed({ filename: 'note' });
    const { outputExpiresAt } = await account.owner.expect(200, 'GET', `/user/renders/${jobId}`);
    const share = (body: object) => account.owner.expect(201, 'POST', `/user/renders/${jobId}/share`, body);
    const whole = await share({});
    assert.equal(whole.expiresAt, outputExpiresAt);
    assert.equal((await share({ hours: 24 * 366 })).expiresAt, outputExpiresAt);
    const sent = await fetch(whole.url);
    assert.match(sent.headers.get('content-disposition')!, /^attachment; filename=note\.pdf$/);
    assert.equal((await readPdf(new Uint8Array(await sent.arrayBuffer()))).pages.length, 1);
    const { entries, total } = await account.owner.expect(200, 'GET', '/user/audit-log?action=render.shared');
    assert.equal(total, 2);
    assert.deepEqual(
      [entries[1].targetId, entries[1].details],
      [jobId, { name: 'note.pdf', until: outputExpiresAt }],
    );
    // Longer than a download link of the API.
    api.domain.clock.pass(30 * 60_000);
    assert.equal((await fetch(whole.url)).status, 200);
    const changed = whole.url.replace(/.$/, (end: string) => (end === 'A' ? 'B' : 'A'));
    assert.equal((await fetch(changed)).status, 404);
    api.domain.clock.pass(Date.parse(outputExpiresAt) - api.domain.clock.now().getTime() + 1);
    assert.equal((await fetch(whole.url)).status, 404);
    await assertRejected(404, 'NOT_FOUND', 'POST', `/user/renders/${await failed()}/share`, {});
  });

  it('have links that are listed with who made them and when they were opened, and that are revoked', async () => {
    const jobId = await account.caller.completed({ filename: 'note' });
    const path = `/user/renders/${jobId}`;
    const [kept, revoked] = [
      await account.owner.expect(201, 'POST', `${path}/share`, { hours: 1 }),
      await account.owner.expect(201, 'POST', `${path}/share`, {}),
    ];
    const me = await account.owner.expect(200, 'GET', '/auth/me');
    const listed = async () => (await account.owner.expect(200, 'GET', `${path}/shares`)).links;
    assert.deepEqual(
      (await listed()).map(({ url, createdBy, lastOpenedAt }: Record<string, unknown>) => [
        url,
        createdBy,
        lastOpenedAt,
      ]),
      [
        [revoked.url, me.email, null],
        [kept.url, me.email, null],
      ],
    );
    const opensFrom = api.domain.clock.now().getTime();
    for (const { url } of [kept, revoked]) assert.equal((await fetch(url)).status, 200);
    const openedAt = Date.parse((await listed())[0].lastOpenedAt);
    assert.ok(openedAt >= opensFrom && openedAt <= api.domain.clock.now().getTime());
    await account.owner.expect(200, 'DELETE', `${path}/shares/${revoked.id}`);
    assert.equal((await fetch(revoked.url)).status, 404);
    assert.equal((await fetch(kept.url)).status, 200);
    await assertRejected(404, 'NOT_FOUND', 'DELETE', `${path}/shares/${revoked.id}`);
    const { entries } = await account.owner.expect(200, 'GET', '/user/audit-log?action=render.share_revoked');
    assert.deepEqual([entries.length, entries[0].targetId], [1, jobId]);
    // One of an earlier version has no record of its own, and is good until its end.
    const { accountId } = account.caller;
    const links = new DownloadLinks(SECRET);
    const [now, ends] = [api.domain.clock.now().getTime(), Date.parse(revoked.expiresAt)];
    const old = links.share(jobId, accountId, new Date(ends), new Date(now), undefined);
    assert.equal((await fetch(`${api.url}/v1/files/${old}`)).status, 200);
    api.domain.clock.pass(3_600_001);
    assert.deepEqual(await listed(), []);
  });

  it('have at most fifty links at a time, of which those that have ended do not count', async () => {
    const path = `/user/renders/${await account.caller.completed({})}`;
    for (let i = 0; i < 50; i += 1) await account.owner.expect(201, 'POST', `${path}/share`, { hours: 1 });
    await assertRejected(403, 'PLAN_LIMIT', 'POST', `${path}/share`, { hours: 1 });
    api.domain.clock.pass(3_600_001);
    await account.owner.expect(201, 'POST', `${path}/share`, { hours: 1 });
    assert.equal((await account.owner.expect(200, 'GET', `${path}/shares`)).links.length, 1);
  });
});
