/** The pages of the menu, in its order, by the group they stand in. */
export const MENU: readonly {
  readonly group: string;
  readonly pages: readonly (readonly [string, string])[];
}[] = [
  {
    group: 'Work',
    pages: [
      ['/', 'Overview'],
      ['/playground', 'Playground'],
      ['/renders', 'Renders'],
      ['/batches', 'Batches'],
      ['/templates', 'Templates'],
    ],
  },
  {
    group: 'Integrate',
    pages: [
      ['/keys', 'API keys'],
      ['/webhooks', 'Webhooks'],
      ['/logs', 'Request log'],
    ],
  },
  {
    group: 'Account',
    pages: [
      ['/billing', 'Billing'],
      ['/audit', 'Audit log'],
      ['/settings', 'Settings'],
    ],
  },
];
