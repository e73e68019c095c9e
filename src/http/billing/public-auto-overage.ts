import { z } from 'zod';
import type { ApiDeps } from '../api-deps.ts';
import { PLAIN_PAGE_HEADERS } from '../request/plain-page.ts';
import { routesOf } from '../request/route.ts';
import { confirmationPage, informationPage } from './auto-overage-pages.ts';

const defineRoute = routesOf({ tags: ['Billing'], auth: 'none' });

const PATH = '/public/auto-overage/disable';
const BILLING_PAGE = '/dashboard/billing';
/** Bytes of a form or a JSON document with a token. */
const MAX_BYTES = 4096;

const confirm = defineRoute(`GET ${PATH}`, {
  operationId: 'askToDisableAutoOverage',
  summary: 'Show the page that turns automatic overage off',
  description:
    'The link in a mail about a purchase opens this page. Fetching it changes nothing. If the token is missing, invalid or expired, the page says so.',
  // A link from a mail always leads to a page, also when mail programs have changed it: parameters that they have added
  // are ignored, and a missing or invalid token leads to the page for invalid links.
  query: z.object({ token: z.string().catch('').describe('Of the link in the mail.') }),
  responses: { 200: { description: 'A page with a form.', contentType: 'text/html; charset=utf-8' } },
  errors: ['UNAVAILABLE'],
}).handledBy(async ({ query: { token } }, { disableLinks, clock }: ApiDeps) => {
  const valid = (await disableLinks.verify(token, clock.now())) !== undefined;
  const body = valid ? confirmationPage(PATH, token) : informationPage(BILLING_PAGE);
  return { status: 200, body, headers: PLAIN_PAGE_HEADERS };
});

const disable = defineRoute(`POST ${PATH}`, {
  operationId: 'disableAutoOverage',
  withoutRoom: 'confirmed',
  summary: 'Turn automatic overage off by the link of a mail',
  description:
    'Always redirects to the billing page: with `autoOverageDisabled=1` if this turned it off; with `0` if it was off already, or the token is invalid or expired.',
  rawBody: {
    maxBytes: MAX_BYTES,
    description: 'The token, as a form (`token=…`) or as JSON (`{"token": "…"}`).',
  },
  responses: {
    303: {
      description: 'The billing page follows.',
      contentType: 'text/plain; charset=utf-8',
      headers: { Location: 'The billing page, with `autoOverageDisabled`.' },
    },
  },
  errors: ['INPUT_TOO_LARGE', 'UNAVAILABLE'],
}).handledBy(async ({ rawBody }, { disableLinks, autoOverage, clock }: ApiDeps) => {
  const token = tokenIn(rawBody.toString('utf8'));
  const accountId = token === undefined ? undefined : await disableLinks.verify(token, clock.now());
  const done = accountId !== undefined && (await autoOverage.disable(accountId, 'link'));
  const headers = {
    Location: `${BILLING_PAGE}?autoOverageDisabled=${done ? 1 : 0}`,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  };
  return { status: 303, body: '', headers };
});

/** The token of a form or a JSON document, whatever the Content-Type: no text is both. */
function tokenIn(body: string): string | undefined {
  if (!body.trimStart().startsWith('{')) return new URLSearchParams(body).get('token') ?? undefined;
  try {
    const { token } = JSON.parse(body) as { token?: unknown };
    return typeof token === 'string' ? token : undefined;
  } catch {
    return undefined;
  }
}

export const publicAutoOverageRoutes = [confirm, disable];
