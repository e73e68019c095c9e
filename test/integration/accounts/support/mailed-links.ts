import assert from 'node:assert/strict';
import type { Mail, MailKind, NewMail } from '../../../../src/tenants/mail/mail.ts';
import { SAME_ORIGIN } from '../../../support/browser.ts';
import type { Reply } from '../../../support/send.ts';
import { callApi, type TestApi } from '../../http/support/api.ts';

let lastAddress = 0;

/** Sends a request like a page, from a new address, so that no test uses up the bounds of another. */
export function sendAsPage(api: TestApi, path: string, body: unknown): Promise<Reply> {
  const address = `198.51.${++lastAddress >> 8}.${lastAddress & 255}`;
  return callApi(api.url, 'POST', path, body, { ...SAME_ORIGIN, 'x-forwarded-for': address });
}

/** The mails to an address, the first one first. */
export async function mailsTo(api: TestApi, email: string, kind: MailKind): Promise<NewMail['values'][]> {
  await api.tenants.recovery.flush();
  const mails = api.domain.connection.collection<Mail>('mails');
  const found = await mails.find({ to: email, 'content.kind': kind }).sort({ createdAt: 1 }).toArray();
  return found.map(({ content }) => content.values);
}

/** The token of the last mailed link. */
export async function linkTo(
  api: TestApi,
  email: string,
  kind: 'password-reset' | 'email-verification',
): Promise<string> {
  return ((await mailsTo(api, email, kind)).at(-1) as { token: string }).token;
}

/** The token of a link for a new password that is asked for now. */
export async function forgotten(api: TestApi, email: string): Promise<string> {
  assert.equal((await sendAsPage(api, '/auth/forgot', { email })).status, 202);
  return linkTo(api, email, 'password-reset');
}
