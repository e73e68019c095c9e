import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { setUpStripe } from '../../../src/billing/setup.ts';
import { StripeGateway } from '../../../src/billing/stripe/stripe-gateway.ts';
import { systemClock } from '../../../src/infra/clock.ts';
import { BUILT_IN, HeldPlans } from '../../../src/tenants/plans/plan-source.ts';
import { callApi } from '../../integration/http/support/api.ts';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { MailServer } from '../../support/mail-server.ts';
import type { TestService } from '../../support/service.ts';
import { Deliverer } from '../../support/stripe/deliverer.ts';
import { StripeStandIn } from '../../support/stripe/stand-in.ts';

const SECRET = 'whsec_for_tests';
const PUBLIC_URL = 'https://platen.test';
const BLOCK = 1000;
/** Between two looks for events to deliver, in milliseconds. */
const DELIVER_EVERY_MS = 200;
/** Billing is followed within seconds, and counted every half minute; the machine does other things as well. */
const FOLLOWED_MS = 120_000;

/** A stand-in of Stripe's API and a real mail server, for a service that is started with its `environment`. */
export interface Shop {
  readonly environment: Record<string, string>;
  readonly standIn: StripeStandIn;
  readonly mails: MailServer;
  close(): Promise<void>;
}

export async function openShop(): Promise<Shop> {
  const standIn = new StripeStandIn({ clock: systemClock });
  const mails = await MailServer.start();
  const apiBase = await standIn.listen();
  const gateway = new StripeGateway({ secretKey: standIn.secretKey, apiBase });
  await setUpStripe(gateway, new HeldPlans(BUILT_IN), `${PUBLIC_URL}/webhooks/payments`);
  return {
    environment: {
      STRIPE_SECRET_KEY: standIn.secretKey,
      STRIPE_WEBHOOK_SECRET: SECRET,
      STRIPE_API_BASE: apiBase,
      SMTP_URL: mails.url,
      PLATEN_PUBLIC_URL: PUBLIC_URL,
    },
    standIn,
    mails,
    async close() {
      await standIn.close();
      await mails.close();
    },
  };
}

/**
 * A little of everything that is sold: plans and a block, both paid on hosted pages, a renewal that is owed and mailed
 * about, and an event that somebody else has signed.
 *
 * @param service over Kafka, with the roles api and dispatcher, and the environment of the shop.
 * @param disputedMs disputes the payment of the block, and has the bank decide for the seller after as many milliseconds.
 * @returns when all of it is followed.
 */
export async function sell(service: TestService, shop: Shop, disputedMs?: number): Promise<void> {
  const { standIn, mails } = shop;
  const deliverer = delivererTo(service, shop);
  const stopping = new AbortController();
  const delivering = deliver(deliverer, standIn, stopping.signal);
  try {
    const owner = await subscriber(service, standIn, 'starter');
    await owner.expect(200, 'POST', '/user/overage', { blockSize: BLOCK });
    standIn.acts.completeCheckout(openPage(standIn).id);
    assert.equal(await postEvent(service, '{}', 't=1,v1=00'), 400);
    await eventually('the block is granted', () => blocks(service, 'granted'), FOLLOWED_MS);
    if (disputedMs !== undefined) await disputeBlock(service, standIn, disputedMs);
    const debtor = await subscriber(service, standIn, 'professional');
    const { id } = [...standIn.books.subscriptions.values()].at(-1)!;
    standIn.acts.alter(id, { status: 'past_due' });
    await eventually(
      'the owner is told of what is owed',
      async () => mails.delivered.length > 0,
      FOLLOWED_MS,
    );
    standIn.acts.alter(id, { status: 'active' });
    await eventually('it is paid', async () => (await statusOf(debtor)) === 'active', FOLLOWED_MS);
  } finally {
    stopping.abort();
    await delivering;
  }
}

/** Delivers the events of the shop to the service. */
export function delivererTo(service: TestService, { standIn }: Shop): Deliverer {
  const post = (payload: string, signature: string) => postEvent(service, payload, signature);
  return new Deliverer({ standIn, secret: SECRET, random: () => 0.5, post });
}

async function subscriber(
  service: TestService,
  standIn: StripeStandIn,
  plan: string,
): Promise<AccountClient> {
  const owner = await signUp(service.url);
  await owner.expect(200, 'POST', '/user/checkout', { plan });
  standIn.acts.completeCheckout(openPage(standIn).id);
  await eventually('the plan is paid for', async () => (await statusOf(owner)) === 'active', FOLLOWED_MS);
  return owner;
}

async function disputeBlock(service: TestService, standIn: StripeStandIn, forMs: number): Promise<void> {
  const dispute = standIn.acts.dispute([...standIn.books.charges.values()].at(-1)!.id);
  await eventually('the block is frozen', () => blocks(service, 'frozen'), FOLLOWED_MS);
  await pause(forMs);
  standIn.acts.decideDispute(dispute.id, 'won');
  await eventually('the block is granted again', () => blocks(service, 'granted'), FOLLOWED_MS);
}

/** As Stripe does, until it is told to stop; what has happened by then is delivered in any case. */
async function deliver(deliverer: Deliverer, standIn: StripeStandIn, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    standIn.catchUp();
    await deliverer.deliver();
    await pause(DELIVER_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  await deliverer.deliverAll();
}

async function postEvent({ url }: TestService, payload: string, signature: string): Promise<number> {
  const headers = { 'payments-signature': signature };
  return (await callApi(url, 'POST', '/webhooks/payments', payload, headers)).status;
}

/** The page of Stripe’s that was made last, and is not paid yet. */
export function openPage({ books }: StripeStandIn) {
  return [...books.sessions.values()].findLast(({ status }) => status === 'open')!;
}

async function statusOf(owner: AccountClient): Promise<string> {
  return (await owner.expect(200, 'GET', '/user/subscription')).status;
}

/** Whether the dispatcher's metrics tell of a block in a state; it counts them twice a minute. */
async function blocks({ roles }: TestService, state: string): Promise<boolean> {
  const reported = await (await fetch(`${roles.get('dispatcher')!.url}/metrics`)).text();
  return new RegExp(`^platen_billing_blocks\\{.*state="${state}".*\\} [1-9]`, 'm').test(reported);
}
