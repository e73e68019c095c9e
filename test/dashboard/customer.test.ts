import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HTTPRequest } from 'puppeteer';
import { delivererTo, openPage, openShop, type Shop } from '../monitoring/support/billing.ts';
import { newEmail, PASSWORD } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';
import type { Deliverer } from '../support/stripe/deliverer.ts';
import { Visitor } from './support/visitor.ts';

const QUOTA = 1;
const PLANS = `plans:\n  starter: { monthlyRenders: ${QUOTA} }\n`;
const CHECKOUT = 'https://checkout.stripe.test/';

/** One walk, whose steps follow from each other. */
describe('The dashboard of a customer who subscribes, has blocks bought by themselves, and ends that', () => {
  let folder: string;
  let shop: Shop;
  let service: TestService;
  let deliverer: Deliverer;
  let visitor: Visitor;
  let link: string;
  const email = newEmail();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-customer-'));
    await writeFile(join(folder, 'plans.yaml'), PLANS);
    shop = await openShop();
    // Stripe and the links of mails lead back to where the browser is.
    const { PLATEN_PUBLIC_URL: _, ...environment } = shop.environment;
    service = await openStandaloneService({ ...environment, PLATEN_PLANS_FILE: join(folder, 'plans.yaml') });
    deliverer = delivererTo(service, shop);
    visitor = await Visitor.open(`http://localhost:${new URL(service.url).port}`);
    await visitor.go('/register');
    await visitor.fill('E-mail address', email);
    await visitor.fill('Password', PASSWORD);
    await visitor.press('Create account');
    await visitor.sees('Your first document');
  });
  after(async () => {
    await visitor?.close();
    await service?.stop();
    await shop?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const current = () => visitor.page.$eval('.plans .current h3', ({ textContent }) => textContent);
  /** Waits until the page shows that a plan is in force, and waits for nothing more. */
  async function inForce(plan: string): Promise<void> {
    await visitor.page.waitForFunction(
      (wanted) => document.querySelector('.plans .current h3')?.textContent === wanted,
      {},
      plan,
    );
    await visitor.page.waitForFunction(() => !document.body.textContent.includes('is being confirmed'));
  }
  /** Waits until the next invoice is of an amount. */
  const nextInvoice = (amount: string) =>
    visitor.page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll('.tiles > div')].some(({ textContent }) =>
          textContent.startsWith(`Next invoice${wanted}`),
        ),
      {},
      amount,
    );
  /** Renders with the quota of the account. */
  const render = () =>
    visitor.page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ html: '<p>x</p>', mode: 'live' });
      return (await fetch('/user/renders', { method: 'POST', headers, body })).status;
    });
  /** Follows the link of the mail, and confirms what its page asks. */
  async function turnOffByLink(): Promise<void> {
    await visitor.page.goto(link);
    await visitor.press('Turn auto overage off');
    await visitor.page.waitForFunction(() => window.location.pathname === '/dashboard/billing');
    await visitor.settled();
  }

  it('goes to pay for a plan', async () => {
    await visitor.go('/billing');
    assert.equal(await current(), 'Free');
    await visitor.press('Upgrade to Starter');
    await visitor.sees('The amount is shown at checkout');
    visitor.assertNoComplaints();
    const intercept = (request: HTTPRequest) =>
      request.url().startsWith(CHECKOUT)
        ? request.respond({ contentType: 'text/html', body: '<h1>Pay</h1>' })
        : request.continue();
    await visitor.page.setRequestInterception(true);
    visitor.page.on('request', intercept);
    await visitor.press('Continue to payment');
    await visitor.page.waitForFunction((start) => window.location.href.startsWith(start), {}, CHECKOUT);
    await visitor.page.setRequestInterception(false);
    visitor.page.off('request', intercept);
    visitor.complaints.length = 0;
  });

  it('waits on the page that it comes back to until the plan is in force', async () => {
    const { id, success_url: back } = openPage(shop.standIn)!;
    shop.standIn.acts.completeCheckout(id);
    await visitor.page.goto(back!);
    await visitor.sees('The payment is being confirmed');
    assert.equal(await current(), 'Free');
    await deliverer.deliverAll();
    await inForce('Starter');
    await visitor.sees('You are on Starter now.');
    visitor.assertNoComplaints();
  });

  it('has a block bought when the quota is used up, and gets a mail with a link', async () => {
    await visitor.fill('Spending cap in dollars per billing period', '5');
    await visitor.press('Turn on');
    await visitor.sees('The spending cap must be at least $');
    visitor.complaints.length = 0;
    await visitor.fill('Spending cap in dollars per billing period', '50');
    await visitor.press('Turn on');
    await visitor.sees('On: blocks of 1,000');
    for (let count = 0; count < QUOTA + 1; count += 1)
      await eventually('the render is let in', async () => {
        await deliverer.deliverAll();
        return (await render()) === 202;
      });
    await eventually('the mail has come', async () => {
      await deliverer.deliverAll();
      const mail = shop.mails.delivered.find(({ message }) => message.includes('bought by auto overage'));
      if (mail === undefined) return false;
      assert.deepEqual(mail.to, [email]);
      const text = mail.message.replaceAll('=\r\n', '').replaceAll('=3D', '=');
      link = /http:\/\/localhost:\d+\/public\/auto-overage\/disable\?token=[\w.-]+/.exec(text)![0];
      return true;
    });
    await visitor.go('/billing');
    // The second render is of the block.
    await visitor.sees('of 1 (200 %)');
    await visitor.sees('All renders of your plan are used.');
    await visitor.sees('$10.00 for 1');
    await visitor.sees('Buy 5,000 for $45.00');
    const views = [
      { width: 1280, scheme: 'light' },
      { width: 390, scheme: 'dark' },
    ] as const;
    await visitor.assertClear(...views);
    await visitor.setView(views[0]);
    await visitor.go('/');
    await visitor.sees('All renders of your plan are used.');
    // Requests that found the quota used up while the block was bought were told so.
    visitor.complaints.length = 0;
  });

  it('turns auto overage off by the link, and sees that it is off', async () => {
    await turnOffByLink();
    await visitor.sees('Automatic overage is off');
    await visitor.sees('Off: when your quota is used up');
    assert.deepEqual(await visitor.barriers(), []);
    visitor.assertNoComplaints();
  });

  it('sees a message when the link has nothing left to turn off', async () => {
    await turnOffByLink();
    await visitor.sees('could not turn automatic overage off');
    visitor.assertNoComplaints();
  });

  it('changes to a higher plan without leaving the page, which waits until that is in force', async () => {
    const invoices = () => visitor.page.$$eval('main table tbody tr', ({ length }) => length);
    const before = await invoices();
    await visitor.press('Upgrade to Professional');
    await visitor.sees('Due today');
    assert.deepEqual(await visitor.barriers(), []);
    // The change may be in force before the page is drawn: what it asks after that is held until it has been seen to wait.
    const held: HTTPRequest[] = [];
    let holds = true;
    const hold = (request: HTTPRequest) =>
      holds && request.method() === 'GET' ? held.push(request) : request.continue();
    await visitor.page.setRequestInterception(true);
    visitor.page.on('request', hold);
    await visitor.press('Pay and upgrade');
    await visitor.sees('The payment is being confirmed');
    holds = false;
    for (const request of held) await request.continue();
    await visitor.page.setRequestInterception(false);
    visitor.page.off('request', hold);
    await deliverer.deliverAll();
    await inForce('Professional');
    await visitor.sees('You are on Professional now.');
    await eventually('its invoice is in the list', async () => (await invoices()) > before);
    visitor.assertNoComplaints();
  });

  it('changes to a lower plan, which begins with the next period', async () => {
    await visitor.press('Downgrade to Starter');
    await visitor.sees('Nothing is due today');
    await visitor.sees('What changes');
    assert.deepEqual(await visitor.barriers(), []);
    await visitor.press('Change plan');
    await nextInvoice('$19.00');
    await visitor.sees('Starter, from');
    assert.equal(await current(), 'Professional');
    visitor.assertNoComplaints();
  });

  it('takes that back, and keeps its plan', async () => {
    await visitor.press('Keep Professional');
    await visitor.sees('You keep Professional.');
    await visitor.page.waitForFunction(() => !document.body.textContent.includes('Starter, from'));
    await nextInvoice('$79.00');
    assert.equal(await current(), 'Professional');
    assert.deepEqual(await visitor.barriers(), []);
    visitor.assertNoComplaints();
  });
});
