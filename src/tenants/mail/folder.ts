import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { MailTransport } from './mail.ts';
import { messageOf } from './smtp.ts';

/** Replaces a mail server: writes each mail to a file (.eml) in the folder, and logs it. */
export function createFolderTransport(folder: string, logger: Logger): MailTransport {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    async send(letter) {
      const { message } = await composer.sendMail(messageOf(letter));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Named by the mail's id: a second attempt writes the same file.
      const name = letter.messageId.slice(1, letter.messageId.lastIndexOf('@'));
      const file = join(folder, `${name}.eml`);
      await writeFile(`${file}.new`, message, { mode: 0o600 });
      await rename(`${file}.new`, file);
      logger.info({ file, subject: letter.subject }, 'mail written to a file');
    },
    close: () => composer.close(),
  };
}
