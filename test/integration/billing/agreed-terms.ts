import type { Subscription } from '../../support/stripe/records.ts';

/** Of its item. */
export const QUANTITY = 3;

/** All that an operator may have agreed on with one customer, by what no plan says. */
export const TERMS: Partial<Subscription> = {
  application_fee_percent: 7,
  automatic_tax: { enabled: true, liability: { type: 'account', account: 'acct_1' }, disabled_reason: null },
  billing_thresholds: { amount_gte: 90_000, reset_billing_cycle_anchor: false },
  default_tax_rates: [{ id: 'txr_1' }, { id: 'txr_2' }],
  description: 'As agreed by letter',
  discounts: ['di_agreed'],
  invoice_settings: { account_tax_ids: ['atxi_1'], issuer: { type: 'account', account: 'acct_1' } },
  metadata: { contract: '4711' },
  on_behalf_of: 'acct_1',
  transfer_data: { amount_percent: 50, destination: 'acct_1' },
};
/** The same of its item. */
export const OF_ITEM = {
  quantity: QUANTITY,
  metadata: { seat: 'all' },
  billing_thresholds: { usage_gte: 10 },
  discounts: ['di_item'],
  tax_rates: [{ id: 'txr_3' }],
};
