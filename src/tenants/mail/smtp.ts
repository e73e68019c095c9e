import { createTransport } from 'nodemailer';
import { type Letter, MailRejected, type MailTransport } from './mail.ts';

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
    // The content of a mail is given in full: no file or address that a text names may be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(letter) {
      try {
        await transport.sendMail(messageOf(letter));
      } catch (error) {
        throw isRejection(error) ? new MailRejected((error as Error).message, { cause: error }) : error;
      }
    },
    close: () => transport.close(),
  };
}

/** Addresses are passed as objects: in a text, an address with a comma would be two. */
export function messageOf({ from, to, unsubscribeUrl, ...rest }: Letter) {
  return {
    ...rest,
    from: { name: 'Platen', address: from },
    to: { name: '', address: to },
    // Asks receivers not to send out-of-office replies (RFC 3834).
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
  };
}

/** Whether the server has permanently rejected the letter or its recipient (RFC 5321, section 4.2.1). */
function isRejection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { responseCode, code } = error as Error & { responseCode?: number; code?: string };
  const ofLetter = code === 'EENVELOPE' || code === 'EMESSAGE';
  return ofLetter && responseCode !== undefined && responseCode >= 500;
}
