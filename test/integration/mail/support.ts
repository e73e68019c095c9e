import { pino } from 'pino';
import type { Clock } from '../../../src/infra/clock.ts';
import type { MailTransport, NewMail } from '../../../src/tenants/mail/mail.ts';
import type { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { MailSender, type MailSenderDeps } from '../../../src/tenants/mail/sender.ts';

export const LINKS = {
  dashboardUrl: 'https://platen.test/dashboard',
  billingUrl: 'https://platen.test/dashboard/billing',
  disableUrl: 'https://platen.test/public/auto-overage/disable?token=abc',
};

export function purchased(id: string, to = 'ada@example.com'): NewMail {
  return {
    id,
    accountId: 'account',
    to,
    kind: 'overage-purchased',
    values: { units: 1_000, amountCents: 1_000, spentCents: 2_000, capCents: 5_000 },
  };
}

export function openMailSender(
  { outbox, clock }: { outbox: MailOutbox; clock: Clock },
  transport: MailTransport,
  overrides: Partial<MailSenderDeps> = {},
): MailSender {
  return new MailSender({
    outbox,
    transport,
    from: 'billing@platen.test',
    links: async () => LINKS,
    clock,
    logger: pino({ level: 'silent' }),
    random: () => 0,
    observe: () => undefined,
    ...overrides,
  });
}
