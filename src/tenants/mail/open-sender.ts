import { ordinary, restPauseMs, type Sweep } from '../../infra/async/sweeper.ts';
import type { Core } from '../../infra/core.ts';
import { createFolderTransport } from './folder.ts';
import type { MailTransport, Unsubscribe } from './mail.ts';
import type { MailMetrics } from './mail-metrics.ts';
import type { MailOutbox } from './outbox.ts';
import { MailSender } from './sender.ts';
import { createSmtpTransport } from './smtp.ts';

/** The path that mails lead to, under the address of the service. */
const DASHBOARD_PATH = '/dashboard';
const BILLING_PATH = `${DASHBOARD_PATH}/billing`;
const DISABLE_PATH = '/public/auto-overage/disable';
const UNSUBSCRIBE_PATH = '/public/notifications/unsubscribe';
/** The least time between two queries for mails, in milliseconds. */
const LEAST_PAUSE_MS = 1000;
/** How many times this pause is made while no mail is written: one that a person waits for is late by this. */
const AT_REST = 5;
/** How long the mail under way may take when the process stops, in milliseconds. */
const GRACE_MS = 5000;

interface SenderCore extends Pick<Core, 'clock' | 'logger'> {
  readonly metrics: MailMetrics;
  readonly outbox: MailOutbox;
  /** Signs the links that turn auto overage off. */
  readonly disableLinks: { sign(accountId: string, now: Date): Promise<string> };
  /** Signs the links that end the mails of an alert. */
  readonly notifications: { linkOf(accountId: string, what: Unsubscribe): Promise<string> };
  /** The start of addresses in mails, which are kept while it is not known. */
  readonly address: { readonly publicUrl: string | undefined };
  readonly config: {
    readonly SMTP_URL?: string | undefined;
    readonly PLATEN_MAIL_FROM: string;
    /** In milliseconds. */
    readonly PLATEN_SWEEP_MS: number;
  };
}

/** @param folder for mails without a mail server; undefined: they are kept in the outbox. */
export function openMailSender(
  core: SenderCore,
  folder: string | undefined,
): { readonly sweep: Sweep; stop(): Promise<void> } {
  const { config, metrics, outbox } = core;
  for (const outcome of ['sent', 'retried', 'failed']) metrics.mails.inc({ outcome }, 0);
  const transport = transportOf(core, folder);
  const sender = transport && senderOf(core, transport);
  const pauseMs = Math.max(LEAST_PAUSE_MS, config.PLATEN_SWEEP_MS);
  return {
    sweep: ordinary(
      'mails',
      pauseMs,
      async () => {
        const { count, oldestMs } = await outbox.waiting();
        metrics.mailsWaiting.set(count);
        metrics.mailOldestWaiting.set(oldestMs / 1000);
        if (count > 0) await sender?.send();
        return count;
      },
      restPauseMs(pauseMs, AT_REST),
    ),
    async stop() {
      await sender?.stop(GRACE_MS);
    },
  };
}

function senderOf(core: SenderCore, transport: MailTransport): MailSender {
  const { config, metrics, address, disableLinks, notifications } = core;
  return new MailSender({
    ...core,
    transport,
    from: config.PLATEN_MAIL_FROM,
    async links({ accountId, unsubscribe }, now) {
      const { publicUrl } = address;
      if (publicUrl === undefined) return undefined;
      const withToken = (path: string, token: string) => {
        const url = new URL(path, publicUrl);
        url.searchParams.set('token', token);
        return url.href;
      };
      const ends = unsubscribe && (await notifications.linkOf(accountId, unsubscribe));
      return {
        dashboardUrl: new URL(DASHBOARD_PATH, publicUrl).href,
        billingUrl: new URL(BILLING_PATH, publicUrl).href,
        disableUrl: withToken(DISABLE_PATH, await disableLinks.sign(accountId, now)),
        ...(ends !== undefined && { unsubscribeUrl: withToken(UNSUBSCRIBE_PATH, ends) }),
      };
    },
    random: Math.random,
    observe: (outcome) => metrics.mails.inc({ outcome }),
  });
}

function transportOf({ config, logger }: SenderCore, folder: string | undefined): MailTransport | undefined {
  if (config.SMTP_URL !== undefined) return createSmtpTransport(config.SMTP_URL);
  return folder === undefined ? undefined : createFolderTransport(folder, logger);
}
