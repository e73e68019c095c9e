import assert from 'node:assert/strict';
import { setUpStripe } from '../../src/billing/setup.ts';
import { StripeGateway } from '../../src/billing/stripe/stripe-gateway.ts';
import { EVENT_TYPES } from '../../src/billing/subscriptions/payment-events.ts';
import { systemClock } from '../../src/infra/clock.ts';
import { BUILT_IN, HeldPlans } from '../../src/tenants/plans/plan-source.ts';
import { AccountClient, newEmail, PASSWORD, signUp } from '../support/account-client.ts';
import { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { MailServer } from '../support/mail-server.ts';
import { openIssuer, type TestIssuer } from '../support/oidc-issuer.ts';
import { type Reply, send } from '../support/send.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';
import { Deliverer } from '../support/stripe/deliverer.ts';
import { StripeStandIn } from '../support/stripe/stand-in.ts';
import { type SuspendableFront, startFront } from '../support/suspended-front.ts';

const SECRET = 'whsec_for_tests';
const FROM_PAGE = { 'sec-fetch-site': 'same-origin' };
/** Every route that asks the payment provider something. */
const ASKING = [
  ['POST', '/user/checkout', { plan: 'business' }],
  ['POST', '/user/subscription/cancel'],
  ['POST', '/user/subscription/resume'],
  ['GET', '/user/subscription/upgrade-preview?plan=business'],
  ['POST', '/user/subscription/auto-overage', { enabled: true }],
  ['POST', '/user/overage', { blockSize: 1000 }],
  ['GET', '/user/billing-portal'],
] as const;
/** The routes that show what is stored of it. */
const SHOWING = ['/user/subscription', '/user/invoices', '/user/plans', '/user/usage'];

/** The payment provider, the mail server and the issuer accept connections and respond to nothing. */
describe('While a provider hangs', () => {
  let standIn: StripeStandIn;
  let stripe: SuspendableFront;
  let deliverer: Deliverer;
  let mails: MailServer;
  let smtp: SuspendableFront;
  let issuer: TestIssuer;
  let service: TestService;
  let owner: AccountClient;
  let email: string;
  let renders: TestClient;
  /** Waits for as long as sweeps do: for a third of a minute, and repeats the call twice. */
  let patient: StripeGateway;

  before(async () => {
    standIn = new StripeStandIn({ clock: systemClock });
    stripe = await startFront(Number(new URL(await standIn.listen()).port));
    mails = await MailServer.start();
    smtp = await startFront(mails.port);
    issuer = await openIssuer();
    const apiBase = `http://127.0.0.1:${stripe.port}`;
    service = await openStandaloneService({
      STRIPE_SECRET_KEY: standIn.secretKey,
      STRIPE_WEBHOOK_SECRET: SECRET,
      STRIPE_API_BASE: apiBase,
      SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      PLATEN_OIDC_ISSUER: issuer.issuer,
      PLATEN_OIDC_AUDIENCE: issuer.audience,
      PLATEN_OIDC_CLIENT_ID: issuer.client.id,
      PLATEN_OIDC_CLIENT_SECRET: issuer.client.secret,
    });
    issuer.client.redirectUris.push(`${service.url.replace('127.0.0.1', 'localhost')}/auth/oidc/callback`);
    patient = new StripeGateway({ secretKey: standIn.secretKey, apiBase });
    await setUpStripe(patient, new HeldPlans(BUILT_IN), `${service.url}/webhooks/payments`);
    deliverer = new Deliverer({
      ...{ standIn, secret: SECRET, random: () => 0.5, types: new Set<string>(EVENT_TYPES) },
      post: async (payload, signature) =>
        (await send(service.url, 'POST', '/webhooks/payments', payload, { 'payments-signature': signature }))
          .status,
    });
    email = newEmail();
    owner = await signUp(service.url, email);
    const { apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name: 'mine' });
    renders = new TestClient(service.url, apiKey);
    await owner.expect(200, 'POST', '/user/checkout', { plan: 'professional' });
    const page = [...standIn.books.sessions.values()].find(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(page.id);
    await deliverer.deliverAll();
    await eventually('it has its plan', async () => (await plan()) === 'professional');
  });
  after(async () => {
    issuer?.hang(false);
    await service?.stop();
    for (const front of [stripe, smtp]) await front?.stop();
    await standIn?.close();
    await mails?.close();
    await issuer?.stop();
  });

  const plan = async () => (await owner.expect(200, 'GET', '/user/usage')).plan;
  const assertUnavailable = (reply: Reply, what: string) => {
    assert.equal(reply.status, 503, `${what}: ${Buffer.from(reply.bytes).toString().slice(0, 300)}`);
    assert.equal(reply.json.code, 'UNAVAILABLE', what);
    assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/, what);
  };
  /** Neither needs the provider. */
  const assertServed = async () => {
    assert.equal((await renders.renderToEnd({ html: '<p>x</p>' })).status, 200);
    await owner.expect(200, 'GET', '/auth/me');
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
  };

  it('the payment provider: its routes reject with 503, all others go on', async () => {
    stripe.suspend();
    let gaveUp = false;
    const waits = patient.stripe.prices.list().then(
      () => 'served',
      () => {
        gaveUp = true;
      },
    );
    const newcomer = await signUp(service.url);
    const checkout = newcomer.call('POST', '/user/checkout', { plan: 'starter' });
    const replies = await Promise.all(ASKING.map(([method, path, body]) => owner.call(method, path, body)));
    for (const [i, reply] of replies.entries()) assertUnavailable(reply, ASKING[i]!.slice(0, 2).join(' '));
    assertUnavailable(await checkout, 'the checkout of an account that is no customer');
    for (const path of SHOWING) await owner.expect(200, 'GET', path);
    standIn.acts.subscribe(
      [...standIn.books.customers.keys()][0]!,
      [...standIn.books.prices.values()].find(({ metadata }) => metadata.platen_plan === 'starter')!.id,
      { card: 'good' },
    );
    await deliverer.deliverAll();
    await assertServed();
    assert.equal(gaveUp, false, 'all that comes before a call is given up that nobody waits for');
    stripe.resume();
    assert.equal(await waits, 'served');
    for (const [method, path, body] of ASKING.slice(0, 3)) {
      await eventually(
        `${method} ${path} is served`,
        async () => (await owner.call(method, path, body)).status < 500,
      );
    }
  });

  it('the mail server: requests whose mails it would send are accepted, and the mails are sent later', async () => {
    smtp.suspend();
    const before = mails.delivered.length;
    const forgot = await send(service.url, 'POST', '/auth/forgot', { email }, FROM_PAGE);
    assert.equal(forgot.status, 202);
    await assertServed();
    assert.equal(mails.delivered.length, before);
    smtp.resume();
    await eventually('the mail is sent', () =>
      mails.delivered.slice(before).some(({ to }) => to.includes(email)),
    );
  });

  it('the issuer: its sign-ins and tokens are rejected with 503, own tokens and keys are not affected', async () => {
    issuer.hang(true);
    // Named, not signed by it: its keys are needed to see that.
    const claims = Buffer.from(JSON.stringify({ iss: issuer.issuer })).toString('base64url');
    const foreign = new AccountClient(service.url, `e30.${claims}.e30`);
    const requests = issuer.hungRequests();
    const replies = await Promise.all([
      ...[1, 2, 3, 4].map(() => foreign.get('/auth/me')),
      ...[1, 2, 3, 4].map(() => send(service.url, 'GET', '/auth/oidc/start')),
    ]);
    for (const reply of replies) assertUnavailable(reply, 'a token of the issuer, or a sign-in at it');
    assert.equal(issuer.hungRequests() - requests, 1, 'they share one request');
    await assertServed();
    const signedIn = await send(service.url, 'POST', '/auth/login', { email, password: PASSWORD }, FROM_PAGE);
    assert.equal(signedIn.status, 200);
    issuer.hang(false);
  });
});
