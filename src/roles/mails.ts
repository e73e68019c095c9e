import { join } from 'node:path';
import { DisableLinks } from '../billing/blocks/disable-links.ts';
import type { Sweep } from '../infra/async/sweeper.ts';
import { createFolderTransport } from '../tenants/mail/folder.ts';
import type { MailTransport } from '../tenants/mail/mail.ts';
import type { MailOutbox } from '../tenants/mail/outbox.ts';
import { MailSender } from '../tenants/mail/sender.ts';
import { createSmtpTransport } from '../tenants/mail/smtp.ts';
import type { Core } from './core.ts';

/** The path that mails lead to, under the address of the service. */
const DASHBOARD_PATH = '/dashboard';
const BILLING_PATH = `${DASHBOARD_PATH}/billing`;
const DISABLE_PATH = '/public/auto-overage/disable';
/** The least time between two queries for mails, in milliseconds. */
const LEAST_PAUSE_MS = 1000;

/**
 * The sender of the outbox's mails; undefined without a mail server, when mails are kept. To be opened before the
 * connection's indexes are created.
 */
export function openMailSender(core: Core, outbox: MailOutbox): MailSender | undefined {
  const { config, metrics, logger, clock, connection, address } = core;
  for (const outcome of ['sent', 'retried', 'failed']) metrics.mails.inc({ outcome }, 0);
  const transport = transportOf(core);
  if (transport === undefined) return undefined;
  const disableLinks = new DisableLinks(connection);
  return new MailSender({
    outbox,
    transport,
    from: config.PLATEN_MAIL_FROM,
    async links(accountId, now) {
      const { publicUrl } = address;
      if (publicUrl === undefined) return undefined;
      const disable = new URL(DISABLE_PATH, publicUrl);
      disable.searchParams.set('token', await disableLinks.sign(accountId, now));
      return {
        dashboardUrl: new URL(DASHBOARD_PATH, publicUrl).href,
        billingUrl: new URL(BILLING_PATH, publicUrl).href,
        disableUrl: disable.href,
      };
    },
    clock,
    logger,
    random: Math.random,
    observe: (outcome) => metrics.mails.inc({ outcome }),
  });
}

function transportOf({ role, config, logger }: Core): MailTransport | undefined {
  if (config.SMTP_URL !== undefined) return createSmtpTransport(config.SMTP_URL);
  if (role === 'standalone') return createFolderTransport(join(config.PLATEN_DATA_DIR, 'mails'), logger);
  return undefined;
}

export function mailSweep(
  { config, metrics }: Pick<Core, 'config' | 'metrics'>,
  outbox: MailOutbox,
  sender: MailSender | undefined,
): Sweep {
  return {
    name: 'mails',
    everyMs: Math.max(LEAST_PAUSE_MS, config.PLATEN_SWEEP_MS),
    async run() {
      await sender?.send();
      const { count, oldestMs } = await outbox.waiting();
      metrics.mailsWaiting.set(count);
      metrics.mailOldestWaiting.set(oldestMs / 1000);
      // Sending is ordinary work, not a repair.
      return undefined;
    },
  };
}
