import { createTransport } from 'nodemailer';
import { type Letter, MailRefused, type MailTransport } from './mail.ts';

const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;

/**
 * Sends by SMTP.
 *
 * @param url `smtp://user:password@host:587` (TLS where the server offers it; `?requireTLS=true` insists) or
 *     `smtps://…:465`.
 */
export function createSmtpTransport(url: string): MailTransport {
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // What a mail is made of is given in full; nothing is to be read because a text names it.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(letter) {
      try {
        await transport.sendMail(messageOf(letter));
      } catch (error) {
        throw isRefusal(error) ? new MailRefused((error as Error).message, { cause: error }) : error;
      }
    },
    close: () => transport.close(),
  };
}

/** Addresses are given as such: as a text, one with a comma would be two. */
export function messageOf({ from, to, ...rest }: Letter) {
  return {
    ...rest,
    from: { name: 'Platen', address: from },
    to: { name: '', address: to },
    // Answers of absence to it are not wanted (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

/** Whether the server has refused this very letter or its recipient for good (RFC 5321 section 4.2.1). */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { responseCode, code } = error as Error & { responseCode?: number; code?: string };
  const ofLetter = code === 'EENVELOPE' || code === 'EMESSAGE';
  return ofLetter && responseCode !== undefined && responseCode >= 500;
}
