import { spreadMs } from '../../infra/async/backoff.ts';
import { unlessAborted } from '../../infra/async/unless-aborted.ts';
import type { Clock } from '../../infra/clock.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import { type Letter, type Mail, MailRejected, type MailTransport } from './mail.ts';
import type { MailEnd, MailOutbox } from './outbox.ts';
import { htmlOf, plainTextOf } from './texts/layout.ts';
import { type Links, textOf } from './texts/texts.ts';

type MailOutcome = 'sent' | 'retried' | 'failed';

export interface MailSenderDeps {
  readonly outbox: MailOutbox;
  readonly transport: MailTransport;
  /** The sender's address. */
  readonly from: string;
  /** The addresses of the links in a mail to this account; undefined while they are not known, and no mail is sent. */
  readonly links: (accountId: string, now: Date) => Promise<Links | undefined>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly observe: (outcome: MailOutcome) => void;
}

/** Mails that one query finds; they are sent one after the other. */
const AT_ONCE = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/**
 * The wait after each failed attempt; after the last one the mail has failed. A mail server may be down over a weekend.
 */
const RETRY_AFTER_MS = [
  ...[MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS],
  ...[24 * HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS],
];

/**
 * Sends the mails of the outbox, each at least once. An attempt is recorded when it is over: after a crash between the
 * mail server's reply and the record, the mail is sent again, with the same Message-ID.
 */
export class MailSender {
  readonly #deps: MailSenderDeps;
  readonly #stop = new AbortController();
  #stopping = false;

  constructor(deps: MailSenderDeps) {
    this.#deps = deps;
  }

  /** Sends up to AT_ONCE due mails. @returns the number of sent mails. */
  async send(): Promise<number> {
    const { outbox, clock } = this.#deps;
    let sent = 0;
    for (const seen of await outbox.due(AT_ONCE)) {
      if (this.#stopping) break;
      const links = await this.#deps.links(seen.accountId, clock.now());
      if (links === undefined) break;
      const mail = await outbox.claim(seen);
      if (mail === undefined) continue;
      if ((await this.#attemptUnlessStopped(mail, links)) === 'sent') sent += 1;
    }
    return sent;
  }

  /**
   * Begins no further mail. The mail server has `graceMs` milliseconds to accept the present mail; after that the mail
   * is left as if this process had crashed.
   */
  stop(graceMs: number): void {
    this.#stopping = true;
    const timer = setTimeout(() => this.#stop.abort(), graceMs);
    timer.unref();
    this.#stop.signal.addEventListener('abort', () => this.#deps.transport.close());
  }

  /** @returns undefined when the attempt was abandoned because the process stops. */
  async #attemptUnlessStopped(mail: Mail, links: Links): Promise<MailOutcome | undefined> {
    const { signal } = this.#stop;
    try {
      return await unlessAborted(signal, this.#attempt(mail, links));
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async #attempt(mail: Mail, links: Links): Promise<MailOutcome> {
    const { outbox, transport, logger, observe } = this.#deps;
    let end: MailEnd = { state: 'sent' };
    try {
      await transport.send(this.#letterOf(mail, links));
    } catch (error) {
      end = this.#endOf(mail, error);
      logger.warn({ err: error, mailId: mail._id, kind: mail.content.kind }, 'mail could not be sent');
    }
    const outcome = end.state === 'waiting' ? 'retried' : end.state;
    if (await outbox.finishAttempt(mail, end)) observe(outcome);
    return outcome;
  }

  #letterOf({ _id, to, content }: Mail, links: Links): Letter {
    const { from } = this.#deps;
    const text = textOf(content, links);
    const domain = from.slice(from.lastIndexOf('@') + 1);
    const local = _id.replaceAll(/[^A-Za-z0-9._-]/g, '.');
    return {
      messageId: `<${local}@${domain}>`,
      from,
      to,
      subject: text.subject,
      text: plainTextOf(text),
      html: htmlOf(text),
    };
  }

  #endOf({ attempts }: Mail, error: unknown): MailEnd {
    const { clock, random } = this.#deps;
    const message = error instanceof Error ? error.message : String(error);
    const wait = error instanceof MailRejected ? undefined : RETRY_AFTER_MS[attempts];
    if (wait === undefined) return { state: 'failed', error: message };
    const dueAt = new Date(clock.now().getTime() + spreadMs(wait, random));
    return { state: 'waiting', dueAt, error: message };
  }
}
