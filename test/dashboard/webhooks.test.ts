import assert from 'node:assert/strict';
import type { SeededAccount } from './support/seeded-account.ts';
import { openSeededVisitor } from './support/signed-in.ts';
import type { View, Visitor } from './support/visitor.ts';

const VIEWS: readonly View[] = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
];

describe('Webhooks in the dashboard', () => {
  let visitor: Visitor;
  let seeded: SeededAccount;

  before(async () => {
    ({ visitor, seeded } = await openSeededVisitor());
  });
  after(() => visitor?.close());

  const rows = () =>
    visitor.page.$$eval('tbody tr', (found) => found.map((row) => row.querySelector('.badge')?.textContent));
  const count = (wanted: number) =>
    visitor.page.waitForFunction((n) => document.querySelectorAll('tbody tr').length === n, {}, wanted);

  it('are found by address, event and status, each of which a chip takes away again', async () => {
    await visitor.go('/webhooks');
    await visitor.fill('To', 'SHOP.example');
    await visitor.page.waitForFunction(() => window.location.search === '?url=SHOP.example');
    await count(3);
    await visitor.page.select('.filters select', 'failed');
    await count(1);
    assert.deepEqual(await rows(), ['failed']);
    await visitor.assertClear(...VIEWS);
    await visitor.page.locator('.chips ::-p-text(Status: failed)').click();
    await count(3);
    await visitor.go('/webhooks?url=nowhere');
    await visitor.sees('No deliveries match these filters.');
    await visitor.go('/webhooks?event=render.completed&status=pending');
    await count(1);
    visitor.assertNoComplaints();
  });

  it('show what the receiver has answered, how long it took, and when it is tried again', async () => {
    await visitor.go('/webhooks?status=failed');
    await visitor.page.locator('tbody tr').click();
    await visitor.sees('orders: the database does not respond');
    await visitor.sees('The receiver responded with 500 after 84 ms');
    await visitor.sees('set-cookie: ***');
    await visitor.assertClear(...VIEWS);
    // It is in the address: reloaded, it is open again.
    await visitor.page.reload();
    await visitor.sees('orders: the database does not respond');
    await visitor.page.keyboard.press('Escape');
    await visitor.page.waitForFunction(() => document.querySelector('dialog[open]') === null);
    await visitor.go('/webhooks?status=pending');
    await visitor.page.locator('tbody tr').click();
    await visitor.sees('Next try');
    visitor.assertNoComplaints();
  });

  it('that have failed since a time are sent again together', async () => {
    await visitor.go('/webhooks?url=shop');
    await visitor.press('Replay failed');
    await visitor.sees('Only those of the filters: shop.');
    await visitor.assertClear(...VIEWS);
    await visitor.press('Send again');
    await visitor.sees('Sending 1 webhook again.');
    const { total } = await seeded.client.expect(200, 'GET', '/user/webhook-deliveries?status=failed');
    assert.equal(total, 0);
    visitor.assertNoComplaints();
  });
});
