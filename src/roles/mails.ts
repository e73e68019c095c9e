import { join } from 'node:path';
import type { Sweep } from '../async/sweeper.ts';
import { createFolderTransport } from '../mail/folder.ts';
import type { MailTransport } from '../mail/mail.ts';
import { MailSender } from '../mail/sender.ts';
import { createSmtpTransport } from '../mail/smtp.ts';
import type { Core } from './core.ts';

/** Where mails lead to, under the address of the service. */
const BILLING_PATH = '/dashboard/billing';
export const DISABLE_PATH = '/public/auto-overage/disable';
/** At least between two looks for mails, in milliseconds. */
const LEAST_PAUSE_MS = 1000;

/** What sends the mails of the outbox; undefined where there is no mail server, and mails are kept. */
export function openMailSender(core: Core): MailSender | undefined {
  const { config, metrics, logger, clock, address, outbox, disableLinks } = core;
  for (const outcome of ['sent', 'retried', 'failed']) metrics.mails.inc({ outcome }, 0);
  const transport = transportOf(core);
  if (transport === undefined) return undefined;
  return new MailSender({
    outbox,
    transport,
    from: config.PLATEN_MAIL_FROM,
    async links(accountId, now) {
      const { publicUrl } = address;
      if (publicUrl === undefined) return undefined;
      const disable = new URL(DISABLE_PATH, publicUrl);
      disable.searchParams.set('token', await disableLinks.sign(accountId, now));
      return { billingUrl: new URL(BILLING_PATH, publicUrl).href, disableUrl: disable.href };
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
  { config, metrics, outbox }: Pick<Core, 'config' | 'metrics' | 'outbox'>,
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
      // Sending is the ordinary way: there is nothing to put right.
      return undefined;
    },
  };
}
