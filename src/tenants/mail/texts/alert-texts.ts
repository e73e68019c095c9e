import type { MailValues } from '../mail.ts';
import type { Block } from './layout.ts';
import type { Links, Write } from './links.ts';
import { COUNT, moment, money, said } from './words.ts';

type AlertMail = 'quota-alert' | 'spend-alert' | 'failure-alert' | 'webhook-alert' | 'webhook-recovered';

const HOUR_MS = 3_600_000;

/** The texts of alerts, which people can do without. */
export const alertTexts: { readonly [Kind in AlertMail]: Write<Kind> } = {
  'quota-alert': (values, links) => ({
    subject:
      values.percent >= 100
        ? 'The renders of this period are used up'
        : `${values.percent} % of the renders of this period are used`,
    blocks: [
      said(beyondQuota(values)),
      {
        facts: [
          ['Used', `${COUNT.format(values.used)} of ${COUNT.format(values.limit)} renders`],
          ['Left', COUNT.format(Math.max(0, values.limit - values.used))],
          ['Renews on', moment(values.renews)],
        ],
      },
      ...(values.sells
        ? []
        : [said('Whoever runs the service can give your account more renders or another plan.')]),
      values.beyond === 'bought'
        ? { button: 'See what is bought', url: links.billingUrl }
        : values.sells
          ? { button: 'Get more renders', url: links.billingUrl }
          : { button: 'See your usage', url: links.dashboardUrl },
      ...endings(links),
    ],
  }),
  'spend-alert': ({ percent, spentCents, capCents }, links) => ({
    subject:
      percent >= 100
        ? 'The spending cap of automatic overage is reached'
        : `${percent} % of the spending cap of automatic overage is spent`,
    blocks: [
      said(
        percent >= 100
          ? 'Automatic overage buys no more blocks in this billing period. When the renders that are left are used up, further ones are rejected until the quota renews.'
          : 'Automatic overage buys blocks of renders while your quota is used up, up to the cap that you have set.',
      ),
      { facts: [['Spent in this billing period', `${money(spentCents)} of ${money(capCents)}`]] },
      { button: percent >= 100 ? 'Raise the cap' : 'See the cap', url: links.billingUrl },
      ...endings(links),
    ],
  }),
  'failure-alert': ({ hour, renders, failed, codes }, links) => ({
    subject: `${Math.round((100 * failed) / renders)} % of your renders fail`,
    blocks: [
      said(
        `${COUNT.format(failed)} of ${COUNT.format(renders)} renders have failed since ${moment(hour)}. Requests that were rejected or cancelled are not among them.`,
      ),
      { facts: codes.map(({ code, count }) => [code, COUNT.format(count)] as const) },
      { button: 'See the failed renders', url: failedUrl(links, hour, codes[0]?.code) },
      said(
        'You get this mail again only after the renders of an hour have been all right, and at most every 6 hours.',
      ),
      ...endings(links),
    ],
  }),
  'webhook-alert': ({ url, since, failures, outcome, nextAt }, links) => ({
    subject: `Your webhook does not respond: ${hostOf(url)}`,
    blocks: [
      said(
        'Callbacks do not arrive at this address. They are tried again for about nine hours, and then given up.',
      ),
      {
        facts: [
          ['Address', url],
          ['Failing since', moment(since)],
          ['Failed attempts', COUNT.format(failures)],
          ['Last result', outcome],
          ['Next attempt', nextAt === null ? 'none' : moment(nextAt)],
        ],
      },
      { button: 'See the callbacks', url: `${links.dashboardUrl}/webhooks` },
      said(
        'You get a mail when callbacks arrive again. Those that were given up can be sent again on that page.',
      ),
      ...endings(links),
    ],
  }),
  'webhook-recovered': ({ url, since, at }, links) => ({
    subject: `Your webhook works again: ${hostOf(url)}`,
    blocks: [
      said('Callbacks arrive again at this address.'),
      {
        facts: [
          ['Address', url],
          ['Failed from', moment(since)],
          ['Works since', moment(at)],
        ],
      },
      said('Callbacks that were given up meanwhile can be sent again.'),
      { button: 'See the callbacks', url: `${links.dashboardUrl}/webhooks?status=failed` },
      ...endings(links),
    ],
  }),
};

function beyondQuota({ percent, beyond }: MailValues['quota-alert']): string {
  if (beyond === 'bought')
    return percent >= 100
      ? 'Automatic overage buys blocks of renders from now on, up to the cap that you have set. You need not do anything.'
      : 'When they are used up, automatic overage buys blocks of renders. You need not do anything.';
  return percent >= 100
    ? 'Live renders are rejected until the quota renews, or until you have more.'
    : 'When they are used up, live renders are rejected until the quota renews.';
}

/** The list of the hour's failed renders, of the commonest code. */
function failedUrl({ dashboardUrl }: Links, hour: string, code: string | undefined): string {
  const until = new Date(Date.parse(hour) + HOUR_MS).toISOString();
  const query = new URLSearchParams({ status: 'failed', from: hour, to: until });
  if (code !== undefined) query.set('error', code);
  return `${dashboardUrl}/renders?${query}`;
}

/** How to have other mails. */
function endings({ dashboardUrl, unsubscribeUrl }: Links): Block[] {
  return [
    { link: 'Choose the mails that you get', url: `${dashboardUrl}/settings` },
    ...(unsubscribeUrl === undefined ? [] : [{ link: 'Stop mails of this kind', url: unsubscribeUrl }]),
  ];
}

function hostOf(url: string): string {
  return new URL(url).host;
}
