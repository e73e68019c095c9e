import type { Tree } from './params.ts';

/** A request that was valid before the version that Platen pins, and that this version rejects. */
export interface RejectedRequest {
  readonly what: string;
  readonly path: string;
  readonly params: Tree;
}

/**
 * Requests that the newest stripe-mock accepts, since its specification is one version older, and Stripe rejects.
 * Platen sends none of them: the types of the package exclude them, and the stand-in rejects them.
 */
export const REJECTED_SINCE_ENDIVE: readonly RejectedRequest[] = [
  {
    what: 'payment_method_types of a Checkout',
    path: '/v1/checkout/sessions',
    params: { mode: 'payment', success_url: 'https://platen.test/', payment_method_types: ['card'] },
  },
  {
    what: 'payment_method_types of a payment',
    path: '/v1/payment_intents',
    params: { amount: '1000', currency: 'usd', payment_method_types: ['card'] },
  },
  {
    what: 'payment_method_types of a card that is saved',
    path: '/v1/setup_intents',
    params: { payment_method_types: ['card'] },
  },
  {
    what: 'a text as the anchor of a changed subscription',
    path: '/v1/subscriptions/sub_1',
    params: { billing_cycle_anchor: 'now' },
  },
  {
    what: 'a text as the anchor of a resumed subscription',
    path: '/v1/subscriptions/sub_1/resume',
    params: { billing_cycle_anchor: 'unchanged' },
  },
  {
    what: 'a text as the anchor of a preview',
    path: '/v1/invoices/create_preview',
    params: { subscription: 'sub_1', subscription_details: { billing_cycle_anchor: 'now' } },
  },
];
