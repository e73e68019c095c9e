import { setUpStripe } from '../../../src/billing/setup.ts';
import type { Plan } from '../../../src/tenants/plans/plan.ts';
import { Deliverer } from '../../support/stripe/deliverer.ts';
import { StripeStandIn } from '../../support/stripe/stand-in.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';

const SECRET = 'whsec_for_tests';

/** The API with billing over a stand-in of Stripe, whose events the deliverer sends. */
export interface ShopApi {
  readonly api: TestApi;
  readonly standIn: StripeStandIn;
  readonly deliverer: Deliverer;
}

export async function openShopApi(plan?: Partial<Plan>): Promise<ShopApi> {
  let api: TestApi | undefined;
  const standIn = new StripeStandIn({ clock: { now: () => api?.domain.clock.now() ?? new Date() } });
  const base = await standIn.listen();
  const opened = await openApi({
    ...(plan && { plan }),
    billing: {
      STRIPE_SECRET_KEY: standIn.secretKey,
      STRIPE_WEBHOOK_SECRET: SECRET,
      STRIPE_API_BASE: base,
    },
  });
  api = opened;
  const { gateway } = api.billing.selling!;
  // Stripe's library waits before it repeats a call, by a clock of its own.
  Reflect.set(gateway.stripe, 'getInitialNetworkRetryDelay', () => 0);
  await setUpStripe(gateway, api.plans, `${api.url}/webhooks/payments`);
  const deliverer = new Deliverer({
    standIn,
    secret: SECRET,
    random: () => 0.5,
    post: async (payload, signature) => {
      const headers = { 'payments-signature': signature };
      return (await callApi(opened.url, 'POST', '/webhooks/payments', payload, headers)).status;
    },
  });
  return { api, standIn, deliverer };
}
