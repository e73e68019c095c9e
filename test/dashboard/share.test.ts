import assert from 'node:assert/strict';
import { type AccountClient, newEmail, signUp } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { readPdf } from '../support/pdf.ts';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { Visitor } from './support/visitor.ts';

const VIEWS = [
  { width: 1280, scheme: 'light' },
  { width: 390, scheme: 'dark' },
] as const;

describe('PDFs in the dashboard', () => {
  let service: TestService;
  let client: AccountClient;
  let visitor: Visitor;
  let ids: string[];

  before(async () => {
    service = await sharedStandaloneService();
    const email = newEmail();
    client = await signUp(service.url, email);
    const documents = ['<p>first draft', '<p>second draft<p style="break-before: page">and a page more'];
    ids = await Promise.all(
      documents.map(async (html, i) => {
        const body = { html, filename: `draft-${i + 1}.pdf` };
        return (await client.expect(202, 'POST', '/user/renders', body)).jobId;
      }),
    );
    for (const id of ids)
      await eventually(
        'it is there',
        async () => (await client.expect(200, 'GET', `/user/renders/${id}`)).outputAvailable,
      );
    visitor = await Visitor.open(service.url);
    await visitor.signIn(email);
    visitor.complaints.length = 0;
  });
  after(() => visitor?.close());

  it('are shared by a link that needs no account, and the audit log names them', async () => {
    await visitor.go(`/renders/${ids[0]}`);
    await visitor.press('Share');
    await visitor.press('Create link');
    const link = await visitor.page.waitForSelector('dialog[open] pre');
    await visitor.assertClear(...VIEWS);
    await visitor.setView(VIEWS[0]);
    const address = (await link!.evaluate((pre) => pre.textContent))!;
    const shared = await fetch(address);
    assert.equal(shared.headers.get('content-disposition'), 'attachment; filename=draft-1.pdf');
    assert.match((await readPdf(new Uint8Array(await shared.arrayBuffer()))).text, /first draft/);
    await visitor.sees('Links');
    await visitor.press('Revoke');
    await visitor.sees('The link is revoked.');
    await visitor.page.waitForFunction(() => document.querySelector('dialog[open] li') === null);
    assert.equal((await fetch(address)).status, 404);
    await visitor.page.keyboard.press('Escape');
    await visitor.go('/audit?action=render.share_revoked');
    await visitor.sees('Revoked a link to draft-1.pdf');
    await visitor.go('/audit?action=render.shared');
    await visitor.sees('Shared a link to draft-1.pdf');
    await visitor.page.locator('tbody a ::-p-text(draft-1.pdf)').click();
    await visitor.page.waitForFunction((id) => window.location.pathname.endsWith(id), {}, ids[0]!);
    visitor.assertNoComplaints();
  });

  it('are compared two by two, with the figures in which they differ', async () => {
    await visitor.go('/renders');
    await visitor.page.waitForSelector('tbody tr');
    await visitor.page.locator('::-p-aria(Select all on this page)').click();
    await visitor.page.locator('a ::-p-text(Compare)').click();
    await eventually('both are shown', async () => (await visitor.page.$$('iframe.pdf')).length === 2);
    const sources = await visitor.page.$$eval('iframe.pdf', (frames) =>
      frames.map((frame) => (frame as HTMLIFrameElement).src),
    );
    for (const [i, id] of ids.entries())
      assert.ok(
        sources.some((each) => each.includes(id)),
        `no ${i}`,
      );
    const marked = await visitor.page.$$eval('tbody tr', (rows) =>
      rows.filter((row) => row.querySelector('mark')).map((row) => row.firstElementChild!.textContent),
    );
    assert.ok(
      marked.includes('Pages') && marked.includes('Size') && !marked.includes('Paper'),
      String(marked),
    );
    await visitor.assertClear(...VIEWS);
    visitor.assertNoComplaints();
  });
});
