import { spreadMs } from '../async/backoff.ts';
import { unlessAborted } from '../async/unless-aborted.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type Letter, type Mail, MailRefused, type MailTransport } from './mail.ts';
import type { MailEnd, MailOutbox } from './outbox.ts';
import { htmlOf, plainTextOf } from './texts/layout.ts';
import { type Links, textOf } from './texts/texts.ts';

export type MailOutcome = 'sent' | 'retried' | 'failed';

export interface MailSenderParts {
  readonly outbox: MailOutbox;
  readonly transport: MailTransport;
  /** The sender's address. */
  readonly from: string;
  /** The addresses that a mail to this account leads to; undefined while they are not known: nothing is sent then. */
  readonly links: (accountId: string, now: Date) => Promise<Links | undefined>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly observe: (outcome: MailOutcome) => void;
}

/** Longer than an attempt takes. Whoever has not finished one by then is dead. */
const LEASE_MS = 120_000;
/** Mails that are looked for together; they are sent one after the other. */
const AT_ONCE = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The wait after each failure; after the last the mail has failed. A mail server may be away over a weekend. */
const RETRY_AFTER_MS = [
  ...[MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS],
  ...[24 * HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS],
];

/**
 * Sends the mails of the outbox. An attempt is noted when it is over: whoever dies between the mail server's answer and
 * the note leaves the mail to be sent again, under the same Message-ID. A mail is sent at least once.
 */
export class MailSender {
  readonly #parts: MailSenderParts;
  readonly #stop = new AbortController();
  #stopping = false;

  constructor(parts: MailSenderParts) {
    this.#parts = parts;
  }

  /** One round over what is due. @returns how many were sent. */
  async send(): Promise<number> {
    const { outbox, clock } = this.#parts;
    let sent = 0;
    for (const seen of await outbox.due(AT_ONCE)) {
      if (this.#stopping) break;
      const links = await this.#parts.links(seen.accountId, clock.now());
      if (links === undefined) break;
      const mail = await outbox.claim(seen, LEASE_MS);
      if (mail === undefined) continue;
      if ((await this.#attemptUnlessStopped(mail, links)) === 'sent') sent += 1;
    }
    return sent;
  }

  /**
   * Begins no further mail. The one under way has `graceMs` milliseconds to be taken; after that it is left as if this
   * process had died.
   */
  stop(graceMs: number): void {
    this.#stopping = true;
    const timer = setTimeout(() => this.#stop.abort(), graceMs);
    timer.unref();
    this.#stop.signal.addEventListener('abort', () => this.#parts.transport.close());
  }

  /** @returns undefined when it was left, since the process stops. */
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
    const { outbox, transport, logger, observe } = this.#parts;
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
    const { from } = this.#parts;
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
    const { clock, random } = this.#parts;
    const told = error instanceof Error ? error.message : String(error);
    const wait = error instanceof MailRefused ? undefined : RETRY_AFTER_MS[attempts];
    if (wait === undefined) return { state: 'failed', error: told };
    const due = new Date(clock.now().getTime() + spreadMs(wait, random));
    return { state: 'waiting', due, error: told };
  }
}
