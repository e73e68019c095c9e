import type { DisabledBecause, Mail, MailKind } from '../mail.ts';
import { alertTexts } from './alert-texts.ts';
import type { Block, MailText } from './layout.ts';
import type { Links, Write } from './links.ts';
import { COUNT, moment, money, pdfs, said } from './words.ts';

/** The content of a mail. */
export function textOf({ kind, values }: Mail['content'], links: Links): MailText {
  // The outbox stores a kind and its values together, so they match.
  const write = TEXTS[kind] as Write<MailKind>;
  return write(values, links);
}

const TEXTS: { readonly [Kind in MailKind]: Write<Kind> } = {
  ...alertTexts,
  'password-reset': ({ token, until, endsAll = false }, { dashboardUrl }) => ({
    subject: 'Set a new password',
    blocks: [
      said('Somebody, hopefully you, has asked for a new password of your account.'),
      // The token is in the fragment, so that no server logs it.
      { button: 'Set a new password', url: `${dashboardUrl}/reset-password#token=${token}` },
      said(
        `The link works once, until ${moment(until)}. If you have not asked for it, you need not do anything.`,
      ),
      ...(endsAll
        ? [
            said(
              'Nobody has confirmed this address yet, so somebody else may have made the account. With the new password it is yours alone: its API keys, signing keys, sessions and waiting renders end. To keep them, sign in with the present password and confirm the address in the settings.',
            ),
          ]
        : []),
    ],
  }),
  'email-verification': ({ token, until }, { dashboardUrl }) => ({
    subject: 'Confirm your e-mail address',
    blocks: [
      said('Your account has this e-mail address. Confirm that it is yours.'),
      { button: 'Confirm the address', url: `${dashboardUrl}/verify-email#token=${token}` },
      said(`The link works once, until ${moment(until)}.`),
      said(
        'If you have not made an account, you need not do anything: without you the address is not confirmed. On the same page you can take the account over, which ends what somebody else has made with it.',
      ),
    ],
  }),
  'account-taken-over': (counts, { dashboardUrl }) => ({
    subject: 'The account is yours, and what was made before has ended',
    blocks: [
      said(
        'You have set a password by a link to this address, which nobody had confirmed before. Somebody else may have made the account, so its sessions and access tokens have ended, and with them:',
      ),
      { facts: TAKEN_OVER.map(([name, subject]) => [name, COUNT.format(counts[subject] ?? 0)] as const) },
      ...(counts.templates === undefined
        ? []
        : [
            said(
              `${COUNT.format(counts.templates)} ${counts.templates === 1 ? 'template was' : 'templates were'} kept. Look through what was saved before you use it, and delete what is not yours.`,
            ),
            { button: 'See the templates', url: `${dashboardUrl}/templates` } as const,
          ]),
      said('If you made the account yourself, make new API keys, and give them to your services.'),
      { button: 'Make an API key', url: `${dashboardUrl}/keys` },
    ],
  }),
  'team-invitation': ({ token, until, by, role, account }, { dashboardUrl }) => ({
    subject: `${by ?? 'Somebody'} invites you to ${account ?? 'an account'}`,
    blocks: [
      said(
        `${by ?? 'The owner of an account'} invites you to work in ${account ?? 'an account'}, an account for PDFs, with the role ${role}. You sign in with this address.`,
      ),
      { button: 'See the invitation', url: `${dashboardUrl}/accept-invitation#token=${token}` },
      said(
        `The link works once, until ${moment(until)}. If you do not know who invites you, you need not do anything.`,
      ),
    ],
  }),
  'ownership-transferred': ({ from, to }, { dashboardUrl }) => ({
    subject: 'An account has another owner',
    blocks: [
      said(
        `${from ?? 'The owner'} has given the account to ${to ?? 'another person'}, who can now invite and remove people and change its plan. ${from ?? 'The former owner'} stays in it as a developer.`,
      ),
      said('If this is not what you wanted, write to whoever runs the service at once.'),
      { button: 'See the members', url: `${dashboardUrl}/members` },
    ],
  }),
  'overage-purchased': ({ units, amountCents, spentCents, capCents }, links) => ({
    subject: `${pdfs(units)} bought by auto overage`,
    blocks: [
      said(
        `Your quota was used up, and auto overage has bought ${COUNT.format(units)} more PDFs. You need not do anything.`,
      ),
      {
        facts: [
          ['Block', pdfs(units)],
          ['Price', money(amountCents)],
          ['Auto overage in this billing period', `${money(spentCents)} of ${money(capCents)}`],
        ],
      },
      said('What is left of the block at the end of the next billing period lapses.'),
      { button: 'See billing and invoices', url: links.billingUrl },
      { link: 'Turn auto overage off', url: links.disableUrl },
    ],
  }),
  'overage-bought': ({ units, amountCents }, links) => ({
    subject: `${pdfs(units)} bought`,
    blocks: [
      said(
        `Your payment has arrived, and ${COUNT.format(units)} PDFs have been added to your account. They are used when your quota is used up.`,
      ),
      {
        facts: [
          ['Block', pdfs(units)],
          ['Price', money(amountCents)],
        ],
      },
      said('What is left of the block at the end of the next billing period lapses.'),
      { button: 'See billing and invoices', url: links.billingUrl },
    ],
  }),
  'overage-failed': ({ units, amountCents }, links) => ({
    subject: 'Auto overage is off: a payment failed',
    blocks: [
      said(
        `Your quota was used up, and auto overage tried to buy ${pdfs(units)} for ${money(amountCents)}. The payment failed, so nothing was charged and auto overage is off now.`,
      ),
      said('Renders past your quota are refused until it is renewed, or until you buy a block.'),
      { button: 'Check your card', url: links.billingUrl },
    ],
  }),
  'overage-action-required': ({ units, amountCents, payUrl, until }, links) => ({
    subject: 'Your bank wants you to confirm a payment',
    blocks: [
      said(
        `Your quota was used up, and auto overage is buying ${pdfs(units)} for ${money(amountCents)}. Your bank wants you to confirm this payment.`,
      ),
      { button: 'Confirm the payment', url: payUrl },
      said(`Without that the purchase is given up at ${moment(until)}, and auto overage is turned off.`),
      { link: 'Turn auto overage off', url: links.disableUrl },
    ],
  }),
  'auto-overage-disabled': ({ because }, links) => ({
    subject: 'Auto overage is off',
    blocks: [
      said(REASONS[because]),
      said('Renders past your quota are refused until it is renewed, or until you buy a block.'),
      { button: 'See billing', url: links.billingUrl },
    ],
  }),
  'payment-failed': ({ plan, graceEnds, payUrl }, links) => ({
    subject: `Payment for the plan ${plan} failed`,
    blocks: [
      said(
        `Your subscription could not be renewed: the payment failed. You keep the plan ${plan}, with what was left of your quota, until ${moment(graceEnds)}. After that your account has the plan free.`,
      ),
      payButton(payUrl, links),
      said('The payment is tried again by itself over the next days. Auto overage is off until it succeeds.'),
    ],
  }),
  'subscription-ended': ({ plan, because, payUrl }, links) => ({
    subject: 'Your account has the plan free now',
    blocks: [
      said(
        `Your subscription${plan === null ? '' : ` to the plan ${plan}`} ${because === 'payment' ? 'could not be charged' : 'was cancelled and has ended'}. From now on your account has the plan free, with its quota.`,
      ),
      ...(payUrl === null ? [] : [said('When what is owed is paid, you have your plan again.')]),
      payUrl === null
        ? { button: 'Choose a plan', url: links.billingUrl }
        : { button: 'Pay now', url: payUrl },
      said(
        'PDFs that you have bought can still be used until they lapse. Auto overage buys no more of them.',
      ),
    ],
  }),
  'duplicate-subscription': ({ plan }, links) => ({
    subject: 'A second subscription was ended and paid back',
    blocks: [
      said(
        `There were two subscriptions of your account at the same time. The later one, to the plan ${plan}, was ended, and what it had charged is on its way back to your card.`,
      ),
      { button: 'See billing and invoices', url: links.billingUrl },
    ],
  }),
};

const TAKEN_OVER = [
  ['API keys revoked', 'apiKeys'],
  ['Signing keys of callbacks ended', 'signingKeys'],
  ['Batches cancelled', 'batches'],
  ['Renders cancelled', 'renders'],
  ['Callbacks not sent', 'callbacks'],
] as const;

const REASONS: Readonly<Record<DisabledBecause, string>> = {
  link: 'Auto overage of your account was turned off by the link of a mail. Nothing more is bought by itself, until you turn it on again on the billing page.',
  payment: 'A payment failed, so auto overage was turned off. Nothing more is bought by itself.',
  dispute:
    'Your bank has disputed a payment, so auto overage was turned off and the block that it paid cannot be used for now.',
  unproven:
    'Auto overage was buying a block of PDFs, and its invoice could not be matched with a payment. The block was not added, and auto overage was turned off. We look into it; if the block was charged, that is put right.',
  subscription:
    'Your subscription is no longer active, so auto overage was turned off. Nothing more is bought by itself.',
};

function payButton(payUrl: string | null, { billingUrl }: Links): Block {
  return payUrl === null
    ? { button: 'Check your card', url: billingUrl }
    : { button: 'Pay now', url: payUrl };
}
