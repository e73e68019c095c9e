import { z } from 'zod';
import type { AlertKind } from '../../tenants/mail/mail.ts';
import type { ApiDeps } from '../api-deps.ts';
import { PLAIN_PAGE_HEADERS, plainPage, tokenInPage } from '../request/plain-page.ts';
import { routesOf } from '../request/route.ts';

const defineRoute = routesOf({ tags: ['Notifications'], auth: 'none' });

const PATH = '/public/notifications/unsubscribe';
const SETTINGS_PAGE = '/dashboard/settings';
/** Bytes of the form of a mail program, which is not read. */
const MAX_BYTES = 4096;

const ABOUT: Readonly<Record<AlertKind, string>> = {
  quota: 'the use of your quota',
  spend: 'what automatic overage has spent',
  failures: 'renders that fail',
  webhooks: 'webhooks that do not respond',
};

// A link from a mail always leads to a page, also when mail programs have changed it.
const query = z.object({ token: z.string().catch('').describe('Of the link in the mail.') });
const page = { description: 'A page.', contentType: 'text/html; charset=utf-8' };

const ask = defineRoute(`GET ${PATH}`, {
  operationId: 'askToUnsubscribe',
  summary: 'Show the page that ends mails of one kind',
  description:
    'The link in a mail about an alert opens this page. Fetching it changes nothing. If the token is missing, invalid or expired, the page says so.',
  query,
  responses: { 200: page },
  errors: ['UNAVAILABLE'],
}).handledBy(async ({ query: { token } }, { notifications }: ApiDeps) => {
  const found = await notifications.readLink(token);
  const body =
    found === undefined
      ? invalidPage()
      : plainPage(
          'Stop these mails?',
          `<p>You get no more mails about ${ABOUT[found.about]}. Others of the account still get theirs.</p>
<form method="post" action="${PATH}?token=${tokenInPage(token)}"><button type="submit">Stop these mails</button></form>`,
        );
  return { status: 200, body, headers: PLAIN_PAGE_HEADERS };
});

const unsubscribe = defineRoute(`POST ${PATH}`, {
  operationId: 'unsubscribe',
  summary: 'End mails of one kind by the link of a mail',
  description:
    'Mail programs send this request by themselves when asked to (RFC 8058); what they send along is not read. Repeated, it changes nothing more. If the token is missing, invalid or expired, the page says so, and nothing changes.',
  query,
  rawBody: { maxBytes: MAX_BYTES, description: 'Not read: `List-Unsubscribe=One-Click`.' },
  responses: { 200: page },
  errors: ['INPUT_TOO_LARGE', 'UNAVAILABLE'],
}).handledBy(async ({ query: { token }, clientAddress }, { notifications }: ApiDeps) => {
  const about = await notifications.unsubscribe(token, clientAddress);
  const body =
    about === undefined
      ? invalidPage()
      : plainPage(
          'You get no more of these mails',
          `<p>No more mails about ${ABOUT[about]} are sent to you. You can choose again in the <a href="${SETTINGS_PAGE}">settings</a>.</p>`,
        );
  return { status: 200, body, headers: PLAIN_PAGE_HEADERS };
});

export const unsubscribeRoutes = [ask, unsubscribe];

/** It shows nothing of the request. */
function invalidPage(): string {
  return plainPage(
    'This link is not valid',
    `<p>It may have been cut off by a mail program, be older than a year, or be of an account that you have left. Nothing was changed.</p>
<p>You can choose your mails in the <a href="${SETTINGS_PAGE}">settings</a>, after signing in.</p>`,
  );
}
