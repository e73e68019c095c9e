import { randomUUID } from 'node:crypto';
import { newEmail, PASSWORD } from '../../support/account-client.ts';
import { isEmpty, open, type Row } from './access-asks.ts';
import type { Actor } from './cast.ts';

const newClaim = () => ({
  domain: `${randomUUID()}.example`,
  issuer: 'https://login.example.com',
  clientId: 'platen',
});

/** The path of a claim, of those that an account may have. */
async function ofDomain(owner: Actor): Promise<string> {
  const { domains } = await owner.made('GET', '/user/domains');
  const { domain } = domains[0] ?? (await owner.made('POST', '/user/domains', newClaim()));
  return `/user/domains/${domain}`;
}

const NO_CREDENTIAL = { id: 'eA', clientDataJSON: 'e30', attestationObject: 'oA' };

/** The operations by which people sign in, and by which an account has its people. */
export const ACCESS_TO_ACCOUNTS: Readonly<Record<string, Row>> = {
  'POST /auth/register': {
    status: 201,
    ask: () => ({ path: '/auth/register', body: { email: newEmail(), password: PASSWORD } }),
  },
  'POST /auth/login': {
    status: 200,
    ask: async (owner) => {
      const body = { email: newEmail(), password: PASSWORD };
      await owner.made('POST', '/auth/register', body);
      return { path: '/auth/login', body };
    },
  },
  'POST /auth/logout': { ...open('/auth/logout'), endsSession: true },
  'GET /auth/me': { ...open('/auth/me'), isEmptyFor: ({ id }, who) => id === who.accountId },

  'GET /auth/config': open('/auth/config'),
  // Without an issuer to sign in at.
  'GET /auth/oidc/start': { ...open('/auth/oidc/start'), status: 404 },
  'GET /auth/oidc/callback/:domain': { ...open('/auth/oidc/callback/nobodys.example'), status: 302 },
  'GET /auth/oidc/callback': { ...open('/auth/oidc/callback'), status: 404 },
  'POST /auth/session': {
    status: 201,
    ask: async (owner) => {
      const body = { email: newEmail(), password: PASSWORD };
      await owner.made('POST', '/auth/register', body);
      return { path: '/auth/session', body };
    },
  },
  'DELETE /auth/session': { ...open('/auth/session'), endsSession: true },
  'PATCH /auth/session': {
    // Only a session can act for another account, which no token is.
    status: 403,
    ask: (owner) => ({ path: '/auth/session', body: { accountId: owner.accountId } }),
  },
  'GET /auth/accounts': {
    ...open('/auth/accounts'),
    isEmptyFor: ({ accounts }, who) => accounts.length === 1 && accounts[0].id === who.accountId,
  },
  'GET /auth/second-factor': {
    ...open('/auth/second-factor'),
    isEmptyFor: ({ since, recoveryCodesLeft }) => since === null && recoveryCodesLeft === 0,
  },
  'POST /auth/second-factor': { ...open('/auth/second-factor'), status: 201 },
  'POST /auth/second-factor/confirm': {
    status: 403,
    ask: () => ({ path: '/auth/second-factor/confirm', body: { code: '000000' } }),
  },
  // Nobody here has one.
  'POST /auth/second-factor/recovery-codes': { ...open('/auth/second-factor/recovery-codes'), status: 404 },
  'DELETE /auth/second-factor': { ...open('/auth/second-factor'), status: 404 },
  'PUT /user/members/second-factor': {
    status: 200,
    ask: () => ({ path: '/user/members/second-factor', body: { required: false } }),
  },
  // Who has a device with passkeys is in test/integration/accounts/passkeys.test.ts.
  'POST /auth/passkeys/challenge': { ...open('/auth/passkeys/challenge'), status: 201 },
  'GET /auth/passkeys': {
    ...open('/auth/passkeys'),
    isEmptyFor: ({ passkeys }) => passkeys.length === 0,
  },
  'POST /auth/passkeys/registration': { ...open('/auth/passkeys/registration'), status: 201 },
  'POST /auth/passkeys': {
    status: 403,
    ask: () => ({ path: '/auth/passkeys', body: { name: 'x', credential: NO_CREDENTIAL } }),
  },
  'PATCH /auth/passkeys/:id': {
    status: 404,
    ask: () => ({ path: `/auth/passkeys/${'0'.repeat(64)}`, body: { name: 'x' } }),
  },
  'DELETE /auth/passkeys/:id': { ...open(`/auth/passkeys/${'0'.repeat(64)}`), status: 404 },
  'PATCH /user/account': {
    status: 200,
    ask: () => ({ path: '/user/account', body: { name: 'renamed' } }),
  },
  'GET /user/domains': { ...open('/user/domains'), isEmptyFor: ({ domains }) => domains.length === 0 },
  'POST /user/domains': { status: 201, ask: () => ({ path: '/user/domains', body: newClaim() }) },
  // No name server knows of it.
  'POST /user/domains/:domain/verification': {
    status: 404,
    ask: () => ({ path: '/user/domains/nobodys.example/verification' }),
  },
  'PATCH /user/domains/:domain': {
    status: 200,
    ask: async (owner) => ({ path: await ofDomain(owner), body: { role: 'billing' } }),
  },
  'DELETE /user/domains/:domain': {
    status: 200,
    ask: async (owner) => ({ path: await ofDomain(owner) }),
  },
  'GET /user/members': {
    ...open('/user/members'),
    isEmptyFor: ({ members }, who) => members.length === 1 && members[0].personId === who.accountId,
  },
  'POST /user/members/invitations': {
    status: 201,
    ask: () => ({ path: '/user/members/invitations', body: { email: newEmail(), role: 'viewer' } }),
  },
  'DELETE /user/members/invitations/:id': {
    status: 200,
    ask: async (owner) => {
      const body = { email: newEmail(), role: 'viewer' };
      const { id } = await owner.made('POST', '/user/members/invitations', body);
      return { path: `/user/members/invitations/${id}` };
    },
  },
  'PATCH /user/members/:id': {
    status: 200,
    ask: async (owner) => {
      return { path: `/user/members/${await owner.newMember()}`, body: { role: 'developer' } };
    },
  },
  'DELETE /user/members/:id': {
    status: 200,
    ask: async (owner) => ({ path: `/user/members/${await owner.newMember()}` }),
  },
  // The owner cannot leave, nor be given what is the owner's.
  'DELETE /user/membership': { ...open('/user/membership'), status: 409 },
  'POST /user/members/:id/transfer': {
    status: 409,
    ask: (owner) => ({ path: `/user/members/${owner.accountId}/transfer` }),
  },
  'GET /auth/sessions': { ...open('/auth/sessions'), isEmptyFor: isEmpty },
  'DELETE /auth/sessions/:id': {
    status: 200,
    ask: async (owner) => ({ path: `/auth/sessions/${await owner.newSession()}` }),
  },

  // These prove who they are by something that nobody has here.
  'POST /auth/invitations': {
    status: 403,
    ask: () => ({ path: '/auth/invitations', body: { token: 'x'.repeat(43) } }),
  },
  'POST /auth/invitations/accept': {
    status: 403,
    ask: () => ({ path: '/auth/invitations/accept', body: { token: 'x'.repeat(43), password: PASSWORD } }),
  },
  'POST /auth/password': {
    status: 403,
    ask: () => ({ path: '/auth/password', body: { currentPassword: 'wrong', newPassword: PASSWORD } }),
  },
  'POST /auth/forgot': {
    status: 202,
    ask: () => ({ path: '/auth/forgot', body: { email: newEmail() } }),
  },
  'POST /auth/reset': {
    status: 403,
    ask: () => ({ path: '/auth/reset', body: { token: 'x'.repeat(43), password: PASSWORD } }),
  },
  'POST /auth/email/verify': {
    status: 403,
    ask: () => ({ path: '/auth/email/verify', body: { token: 'x'.repeat(43) } }),
  },
  'POST /auth/email/verification': { status: 202, ask: () => ({ path: '/auth/email/verification' }) },
};
