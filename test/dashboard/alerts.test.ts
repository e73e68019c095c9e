import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { quotaPeriod } from '../../src/tenants/plans/quota-period.ts';
import type { AlertRecord } from '../../src/work/alerts/alert-record.ts';
import { newEmail, signUp } from '../support/account-client.ts';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { Visitor } from './support/visitor.ts';

const VIEWS = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
] as const;
const HOUR = '2026-11-23T14:00:00.000Z';

describe('Alerts, in the dashboard', () => {
  let service: TestService;
  let connection: Connection;
  let visitor: Visitor;
  let accountId: string;

  before(async () => {
    service = await sharedStandaloneService();
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    const email = newEmail();
    ({ id: accountId } = await (await signUp(service.url, email)).expect(200, 'GET', '/auth/me'));
    visitor = await Visitor.open(service.url);
    await visitor.signIn(email);
  });
  after(async () => {
    await visitor?.close();
    await connection?.close();
  });

  const use = (used: number) =>
    connection
      .collection<{ _id: string }>('ledgers')
      .updateOne(
        { _id: accountId },
        { $set: { [`quota.${quotaPeriod(new Date())}`]: used } },
        { upsert: true },
      );
  const notices = () =>
    visitor.page.$$eval('.notices .note strong', (found) => found.map(({ textContent }) => textContent));

  it('say nothing while nothing is the matter', async () => {
    await use(49);
    await visitor.go('/');
    await visitor.sees('Renders left');
    assert.deepEqual(await notices(), []);
  });

  it('say how much of the quota is used, on both pages, until when, and what helps', async () => {
    for (const [used, title, then] of [
      [80, '80 % of your renders are used.', 'When they are used up, live renders are rejected until then.'],
      [100, 'Your renders are used up.', 'Until then live renders are rejected.'],
    ] as const) {
      await use(used);
      for (const path of ['/', '/billing']) {
        await visitor.go(path);
        await visitor.sees(title);
        await visitor.sees(`${used} of 100, ${100 - used} left. They renew on`);
        await visitor.sees(then);
        await visitor.sees('Get more renders');
        await visitor.assertClear(...VIEWS);
        await visitor.setView(VIEWS[0]);
      }
    }
    await visitor.go('/');
    await visitor.page.locator('.notices a').click();
    await visitor.page.waitForFunction(() => window.location.pathname === '/dashboard/billing');
    visitor.assertNoComplaints();
  });

  it('lead to the failed renders of the hour, and to the deliveries of a webhook', async () => {
    const at = new Date(HOUR);
    const now = { hour: at, renders: 40, failed: 30, codes: [{ code: 'RENDER_TIMEOUT', count: 30 }] };
    const webhook = {
      ...{ url: 'https://shop.example/hooks/platen', since: at, failures: 9, lastAt: at, toldAt: at },
      ...{ status: 500, error: 'The receiver responded with status 500.', nextAt: new Date() },
    };
    const found = { failing: { now, told: true }, webhooks: { a: webhook } };
    await connection
      .collection<AlertRecord>('alerts')
      .updateOne({ _id: accountId }, { $set: found }, { upsert: true });
    await visitor.go('/');
    await visitor.sees('30 of 40 in the hour from');
    await visitor.sees('https://shop.example/hooks/platen');
    await visitor.sees('The receiver responded with status 500.');
    await visitor.assertClear(...VIEWS);
    await visitor.setView(VIEWS[0]);
    await visitor.page.locator('.notices a ::-p-text(See the failed renders)').click();
    await visitor.page.waitForFunction(() => window.location.pathname === '/dashboard/renders');
    const query = new URLSearchParams(await visitor.page.evaluate(() => window.location.search));
    assert.deepEqual(Object.fromEntries(query), {
      ...{ status: 'failed', error: 'RENDER_TIMEOUT' },
      ...{ from: HOUR, to: '2026-11-23T15:00:00.000Z' },
    });
    visitor.assertNoComplaints();
  });

  it('are chosen under Settings, and so are their thresholds', async () => {
    await visitor.go('/settings');
    await visitor.sees('E-mail me when');
    await visitor.assertClear(...VIEWS);
    await visitor.setView(VIEWS[0]);
    const checked = () =>
      visitor.page.$$eval('.choices:not(.row) input', (boxes) => boxes.map((box) => box.checked));
    assert.deepEqual(await checked(), [true, true, true, true]);
    await visitor.page.locator('label ::-p-text(Many renders fail)').click();
    await visitor.page.waitForFunction(
      () => document.querySelectorAll('.choices:not(.row) input:checked:enabled').length === 3,
    );
    await visitor.page.locator('.choices.row label ::-p-text(50 %)').click();
    await visitor.fill('Failed renders in an hour (%)', '5');
    await visitor.press('Save thresholds');
    await visitor.sees('The thresholds are changed');
    await visitor.go('/settings');
    await visitor.sees('E-mail me when');
    assert.deepEqual(await checked(), [true, true, false, true]);
    const settings = await connection
      .collection<{ _id: string; thresholds: object }>('notification_settings')
      .findOne({ _id: accountId });
    assert.deepEqual(settings!.thresholds, {
      ...{ quotaPercents: [80, 100], failurePercent: 5, failureRenders: 20, webhookFailures: 20 },
    });
    await use(60);
    await visitor.go('/billing');
    await visitor.sees('This period');
    assert.deepEqual(await notices(), [], 'below the first threshold');
    visitor.assertNoComplaints();
  });
});
