import { z } from 'zod';
import { lineSchema } from '../../render/options/core/text-schemas.ts';
import { proofOf } from '../../tenants/accounts/sign-in-domains.ts';
import { MAX_DOMAINS, type SignInDomain } from '../../tenants/members/sign-in-domain-store.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { requireRecentSignIn } from '../request/recent-sign-in.ts';
import { routesOf } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';
import { memberRoleSchema } from './member-schema.ts';
import { domainCallback, mailDomainSchema } from './oidc-domains.ts';

const defineRoute = routesOf({ tags: ['Members'], auth: 'bearer', right: 'own' });
const params = z.strictObject({ domain: mailDomainSchema });
const time = z.iso.datetime();
const clientId = lineSchema({ min: 1, max: 255 }).describe(
  'The client that the issuer knows this service as.',
);
const clientSecret = lineSchema({ min: 1, max: 512 }).describe(
  'The secret of that client. It is never shown.',
);

const domainSchema = z
  .strictObject({
    domain: z.string().describe('The part of addresses after the @.'),
    issuer: z.string().describe('The issuer identifier.'),
    clientId: z.string().describe('The client that the issuer knows this service as.'),
    hasClientSecret: z.boolean().describe('Whether there is a secret of that client.'),
    role: memberRoleSchema.describe('The role of people who sign in for the first time.'),
    required: z
      .boolean()
      .describe('Whether members with addresses of the domain, but the owner, may open the account only so.'),
    redirectUri: z.url().describe('Where the issuer has to be allowed to send people back to.'),
    proof: z
      .strictObject({
        type: z.literal('TXT').describe('The type of the record.'),
        name: z.string().describe('Its name.'),
        value: z.string().describe('Its value.'),
      })
      .describe('The record of the domain that shows that it is the account’s.'),
    verifiedAt: time.nullable().describe('Since when the domain is the account’s; null until it is shown.'),
    createdAt: time.describe('When it was claimed.'),
  })
  .meta({ id: 'SignInDomain' });

const list = defineRoute('GET /user/domains', {
  right: 'own',
  operationId: 'listDomains',
  summary: 'List the mail domains whose people sign in at an issuer',
  responses: {
    200: {
      description: 'All of them.',
      schema: z
        .strictObject({ domains: z.array(domainSchema).describe('By domain.') })
        .meta({ id: 'SignInDomainList' }),
    },
  },
}).handledBy(async ({ caller }, { signInDomains, publicUrl }: ApiDeps) => {
  const found = await signInDomains.list(caller.session.account);
  return { status: 200, json: { domains: found.map((each) => domainBody(each, publicUrl())) } };
});

const claim = defineRoute('POST /user/domains', {
  right: 'own',
  operationId: 'claimDomain',
  summary: 'Claim a mail domain, and set the issuer of its people',
  description: `It counts once POST /user/domains/{domain}/verification has found the record of \`proof\`. An account may have ${MAX_DOMAINS} domains. In a browser, the password must have been given within the last 5 minutes.`,
  body: z
    .strictObject({
      domain: mailDomainSchema.describe('The part of addresses after the @.'),
      // A host that is as long as this address may be is a valid one.
      issuer: lineSchema({ min: 1, max: 255 })
        .meta({ format: 'uri' })
        .describe('The issuer identifier, an https address. Its discovery document is below it.'),
      clientId,
      clientSecret: clientSecret.optional(),
      role: memberRoleSchema.default('viewer').describe('The role of people who sign in for the first time.'),
    })
    .meta({ id: 'DomainClaim' }),
  responses: { 201: { description: 'The domain is claimed.', schema: domainSchema } },
  errors: ['DOMAIN_CLAIMED', 'DOMAIN_CAPACITY', 'PASSWORD_REQUIRED', 'INVALID_URL', 'URL_BLOCKED'],
}).handledBy(async ({ body, caller, clientAddress }, deps: ApiDeps) => {
  const { signInDomains, publicUrl, clock, checkCallbackUrl } = deps;
  requireRecentSignIn(caller, clock);
  checkCallbackUrl(body.issuer, 'issuer');
  const by = byPerson(caller, clientAddress);
  const { clientSecret, ...rest } = body;
  const claimed = { ...rest, ...(clientSecret !== undefined && { clientSecret }) };
  const made = await signInDomains.claim(caller.session.account, claimed, by);
  return { status: 201, json: domainBody(made, publicUrl()) };
});

const verify = defineRoute('POST /user/domains/:domain/verification', {
  right: 'own',
  operationId: 'verifyDomain',
  summary: 'Look for the record that shows that the domain is the account’s',
  description:
    'The record may stay or go afterwards. Whoever shows the same for another account later takes the domain over, unless this record is still there.',
  params,
  responses: { 200: { description: 'The domain is the account’s.', schema: domainSchema } },
  errors: ['NOT_FOUND', 'DOMAIN_UNPROVEN', 'DOMAIN_TAKEN', 'UNAVAILABLE'],
}).handledBy(async ({ params, caller, clientAddress }, { signInDomains, publicUrl }: ApiDeps) => {
  const by = byPerson(caller, clientAddress);
  const held = await signInDomains.verify(caller.session.account, params.domain, by);
  return { status: 200, json: domainBody(held, publicUrl()) };
});

const change = defineRoute('PATCH /user/domains/:domain', {
  right: 'own',
  operationId: 'changeDomain',
  summary: 'Change what is set of a mail domain and its issuer',
  description:
    'Another issuer knows other people: remove the domain and claim it anew for that. In a browser, the password must have been given within the last 5 minutes.',
  params,
  body: z
    .strictObject({
      clientId: clientId.optional(),
      clientSecret: clientSecret.nullable().optional().describe('Null removes the secret.'),
      role: memberRoleSchema.optional(),
      required: z
        .boolean()
        .optional()
        .describe(
          'Whether members with addresses of the domain may open the account only through the issuer, within a second. The owner may always open it.',
        ),
    })
    .refine((given) => Object.keys(given).length > 0, { message: 'needs a field to change' })
    .meta({ id: 'DomainChange', minProperties: 1 }),
  responses: { 200: { description: 'The domain as it is now.', schema: domainSchema } },
  errors: ['NOT_FOUND', 'DOMAIN_UNPROVEN', 'PASSWORD_REQUIRED'],
}).handledBy(
  async ({ params, body, caller, clientAddress }, { signInDomains, publicUrl, clock }: ApiDeps) => {
    requireRecentSignIn(caller, clock);
    const by = byPerson(caller, clientAddress);
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
    const changed = await signInDomains.change(caller.session.account, params.domain, given, by);
    return { status: 200, json: domainBody(changed, publicUrl()) };
  },
);

const remove = defineRoute('DELETE /user/domains/:domain', {
  right: 'own',
  operationId: 'removeDomain',
  withoutRoom: 'confirmed',
  summary: 'Remove a mail domain',
  description:
    'Its people do not sign in any more, and are no members: who came through the issuer has no other sign-in. In a browser, the password must have been given within the last 5 minutes.',
  params,
  responses: { 200: { description: 'The account has the domain no more.', schema: successSchema } },
  errors: ['NOT_FOUND', 'PASSWORD_REQUIRED'],
}).handledBy(async ({ params, caller, clientAddress }, { signInDomains, clock }: ApiDeps) => {
  requireRecentSignIn(caller, clock);
  await signInDomains.remove(caller.session.account, params.domain, byPerson(caller, clientAddress));
  return { status: 200, json: { success: true } };
});

export const domainRoutes = [list, claim, verify, change, remove];

function domainBody(found: SignInDomain, publicUrl: string) {
  const { domain, issuer, clientId, clientSecret, role, required, verifiedAt, createdAt } = found;
  return {
    ...{ domain, issuer, clientId, role, required },
    hasClientSecret: clientSecret !== undefined,
    redirectUri: domainCallback(publicUrl, domain),
    proof: proofOf(found),
    verifiedAt: verifiedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
