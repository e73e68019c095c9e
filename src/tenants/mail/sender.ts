import { spreadMs } from '../../infra/async/backoff.ts';
import { unlessAborted } from '../../infra/async/unless-aborted.ts';
import type { Core } from '../../infra/core.ts';
import { DueWork } from '../../infra/store/due-work.ts';
import { type Letter, type Mail, MailRejected, type MailTransport } from './mail.ts';
import type { MailEnd, MailOutbox } from './outbox.ts';
import { htmlOf, plainTextOf } from './texts/layout.ts';
import type { Links } from './texts/links.ts';
import { textOf } from './texts/texts.ts';

type MailOutcome = 'sent' | 'retried' | 'failed';
type ClaimedMail = Mail & { readonly links: Links };

export interface MailSenderDeps extends Pick<Core, 'clock' | 'logger'> {
  readonly outbox: MailOutbox;
  readonly transport: MailTransport;
  readonly from: string;
  /** The addresses of the links in a mail; undefined while they are not known, and no mail is sent. */
  readonly links: (mail: Pick<Mail, 'accountId' | 'unsubscribe'>, now: Date) => Promise<Links | undefined>;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly observe: (outcome: MailOutcome) => void;
}

/** Mails that one query finds; they are sent one after the other. */
const PER_QUERY = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The wait after each failed attempt; after the last one the mail fails. A server may be down over a weekend. */
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
  readonly #due: DueWork<Mail, MailOutcome | undefined, ClaimedMail>;

  constructor(deps: MailSenderDeps) {
    this.#deps = deps;
    this.#due = new DueWork({
      queue: deps.outbox,
      perQuery: PER_QUERY,
      claim: (seen) => this.#claim(seen),
      attempt: (mail, signal) => this.#attempt(mail, signal),
    });
  }

  /** Sends up to PER_QUERY due mails. @returns the number of sent mails. */
  async send(): Promise<number> {
    return (await this.#due.pass()).filter((outcome) => outcome === 'sent').length;
  }

  /**
   * Begins no further mail. The mail server has `graceMs` milliseconds to accept the present mail; after that the mail
   * is left as if this process had crashed.
   */
  async stop(graceMs: number): Promise<void> {
    await this.#due.stop(graceMs);
    this.#deps.transport.close();
  }

  async #claim(seen: Mail): Promise<ClaimedMail | undefined> {
    const links = await this.#deps.links(seen, this.#deps.clock.now());
    const mail = links && (await this.#deps.outbox.claim(seen));
    return mail && { ...mail, links: links! };
  }

  /** @returns undefined when the mail was left because the process stops. */
  async #attempt(mail: ClaimedMail, signal: AbortSignal): Promise<MailOutcome | undefined> {
    const { outbox, transport, logger, observe } = this.#deps;
    let end: MailEnd = { state: 'sent' };
    try {
      await unlessAborted(signal, transport.send(this.#letterOf(mail)));
    } catch (error) {
      if (signal.aborted) return undefined;
      end = this.#endOf(mail, error);
      logger.warn({ err: error, mailId: mail._id, kind: mail.content.kind }, 'mail could not be sent');
    }
    const outcome = end.state === 'waiting' ? 'retried' : end.state;
    if (await outbox.finishAttempt(mail, end)) observe(outcome);
    return outcome;
  }

  #letterOf({ _id, to, content, links }: ClaimedMail): Letter {
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
      ...(links.unsubscribeUrl !== undefined && { unsubscribeUrl: links.unsubscribeUrl }),
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
