import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mail, MailKind, MailValues } from '../../../src/tenants/mail/mail.ts';
import { htmlOf, plainTextOf } from '../../../src/tenants/mail/texts/layout.ts';
import { textOf } from '../../../src/tenants/mail/texts/texts.ts';

const PREVIEWS = join(import.meta.dirname, '..', '..', '..', 'docs', 'mails');
const LINKS = {
  dashboardUrl: 'https://platen.example/dashboard',
  billingUrl: 'https://platen.example/dashboard/billing',
  disableUrl: 'https://platen.example/public/auto-overage/disable?token=TOKEN',
  unsubscribeUrl: 'https://platen.example/public/notifications/unsubscribe?token=TOKEN',
};
const EXAMPLES: MailValues = {
  'password-reset': { token: 'TOKEN', until: '2026-11-23T14:05:00.000Z' },
  'email-verification': { token: 'TOKEN', until: '2026-11-24T13:05:00.000Z' },
  'account-taken-over': { apiKeys: 2, signingKeys: 1, renders: 3, callbacks: 1, templates: 4 },
  'overage-purchased': { units: 5_000, amountCents: 4_500, spentCents: 9_000, capCents: 20_000 },
  'overage-bought': { units: 5_000, amountCents: 4_500 },
  'overage-failed': { units: 5_000, amountCents: 4_500 },
  'overage-action-required': {
    units: 5_000,
    amountCents: 4_500,
    payUrl: 'https://invoice.stripe.com/i/example',
    until: '2026-11-23T14:05:00.000Z',
  },
  'auto-overage-disabled': { because: 'dispute' },
  'payment-failed': {
    plan: 'professional',
    graceEnds: '2026-11-29T00:00:00.000Z',
    payUrl: 'https://invoice.stripe.com/i/example',
  },
  'subscription-ended': { plan: 'professional', because: 'cancellation', payUrl: null },
  'duplicate-subscription': { plan: 'starter' },
  'team-invitation': {
    token: 'T',
    until: '2026-07-01T00:00:00.000Z',
    by: 'a@example.com',
    role: 'viewer',
    account: 'Engines',
  },
  'ownership-transferred': { from: 'a@example.com', to: 'b@example.com' },
  'quota-alert': {
    percent: 80,
    used: 2_000,
    limit: 2_500,
    renews: '2026-12-01T00:00:00.000Z',
    beyond: 'rejected',
    sells: true,
  },
  'spend-alert': { percent: 50, spentCents: 5_000, capCents: 10_000 },
  'failure-alert': {
    hour: '2026-11-23T14:00:00.000Z',
    renders: 120,
    failed: 42,
    codes: [
      { code: 'URL_UNREACHABLE', count: 40 },
      { code: 'RENDER_TIMEOUT', count: 2 },
    ],
  },
  'webhook-alert': {
    url: 'https://shop.example/hooks/platen',
    since: '2026-11-23T13:02:00.000Z',
    failures: 7,
    outcome: 'The receiver responded with status 500.',
    nextAt: '2026-11-23T14:35:00.000Z',
  },
  'webhook-recovered': {
    url: 'https://shop.example/hooks/platen',
    since: '2026-11-23T13:02:00.000Z',
    at: '2026-11-23T14:35:00.000Z',
  },
};
const USED_UP = { percent: 100, used: 2_500, limit: 2_500, renews: '2026-12-01T00:00:00.000Z' };
/** The files of docs/mails: one for each kind of mail, and several for a kind with variants. */
const SHOWN: readonly (readonly [file: string, content: Mail['content']])[] = [
  ...(Object.keys(EXAMPLES) as MailKind[]).map(
    (kind) => [kind as string, { kind, values: EXAMPLES[kind] }] as const,
  ),
  [
    'subscription-ended-unpaid',
    {
      kind: 'subscription-ended',
      values: { plan: 'starter', because: 'payment', payUrl: 'https://invoice.stripe.com/i/example' },
    },
  ],
  [
    'password-reset-unconfirmed',
    {
      kind: 'password-reset',
      values: { token: 'TOKEN', until: '2026-11-23T14:05:00.000Z', endsAll: true },
    },
  ],
  ['auto-overage-disabled-unproven', { kind: 'auto-overage-disabled', values: { because: 'unproven' } }],
  ['quota-alert-used-up', { kind: 'quota-alert', values: { ...USED_UP, beyond: 'rejected', sells: false } }],
  ['quota-alert-bought', { kind: 'quota-alert', values: { ...USED_UP, beyond: 'bought', sells: true } }],
  [
    'spend-alert-reached',
    { kind: 'spend-alert', values: { percent: 100, spentCents: 10_000, capCents: 10_000 } },
  ],
  ['auto-overage-disabled-by-link', { kind: 'auto-overage-disabled', values: { because: 'link' } }],
];

describe('Mails in docs/mails', () => {
  for (const [file, content] of SHOWN)
    it(`are up to date: ${file}`, async () => {
      const text = textOf(content, LINKS);
      const preview = (extension: string) => readFile(join(PREVIEWS, `${file}.${extension}`), 'utf8');
      assert.equal(await preview('txt'), `Subject: ${text.subject}\n\n${plainTextOf(text)}`);
      assert.equal(await preview('html'), htmlOf(text));
    });

  it('have the same content and links in plain text and HTML', () => {
    for (const kind of Object.keys(EXAMPLES) as MailKind[]) {
      const text = textOf({ kind, values: EXAMPLES[kind] }, LINKS);
      const plain = plainTextOf(text);
      const html = htmlOf(text);
      const urls = text.blocks.flatMap((block) => ('url' in block ? [block.url] : []));
      assert.ok(urls.length > 0);
      for (const url of urls) {
        assert.ok(plain.includes(`\n${url}\n`), `${kind}: ${url}`);
        assert.ok(html.includes(`href="${url.replaceAll('&', '&amp;')}"`), `${kind}: ${url}`);
      }
    }
  });

  it('escape values that users have chosen', () => {
    const values = { plan: '<img src=x onerror="alert(1)">' };
    const html = htmlOf(textOf({ kind: 'duplicate-subscription', values }, LINKS));
    assert.ok(!html.includes('<img'));
    assert.ok(html.includes('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;'));
  });

  it('contain no external resources', () => {
    for (const kind of Object.keys(EXAMPLES) as MailKind[]) {
      const html = htmlOf(textOf({ kind, values: EXAMPLES[kind] }, LINKS));
      assert.doesNotMatch(html, /<(img|link|script|iframe)|url\(|src=/i);
    }
  });
});
