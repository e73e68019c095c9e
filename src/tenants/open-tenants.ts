import type { Core } from '../infra/core.ts';
import type { LookupText } from '../infra/egress/text-records.ts';
import { AccountAccess } from './accounts/account-access.ts';
import { AccountRecovery } from './accounts/account-recovery.ts';
import { AccountService } from './accounts/account-service.ts';
import type { AccountStore } from './accounts/account-store.ts';
import { AccountTakeover, type TakeoverStep } from './accounts/account-takeover.ts';
import { BearerTokens } from './accounts/bearer.ts';
import { DeletionStore } from './accounts/deletion-store.ts';
import { DomainSignIn } from './accounts/domain-sign-in.ts';
import { InvitationStore } from './accounts/invitation-store.ts';
import { OidcClient } from './accounts/oidc-client.ts';
import { OidcIssuer } from './accounts/oidc-issuer.ts';
import { OidcSignIn } from './accounts/oidc-sign-in.ts';
import { OidcVerifier } from './accounts/oidc-verifier.ts';
import { PasskeyChallenges } from './accounts/passkey-challenges.ts';
import { Passkeys } from './accounts/passkeys.ts';
import { Registration, type RegistrationMode } from './accounts/registration.ts';
import { RegistrationLimit } from './accounts/registration-limit.ts';
import { SecondFactors } from './accounts/second-factor.ts';
import { SignIn } from './accounts/sign-in.ts';
import { SignInDomains } from './accounts/sign-in-domains.ts';
import { openStores } from './accounts/stores.ts';
import { TakeoverStore } from './accounts/takeover-store.ts';
import { Team } from './accounts/team.ts';
import { TeamInvitationStore } from './accounts/team-invitation-store.ts';
import { KeyService } from './keys/key-service.ts';
import { KeyStore } from './keys/key-store.ts';
import { RateLimiter } from './limits/rate-limiter.ts';
import { SignedLinks } from './mail/signed-links.ts';
import { PasskeyStore } from './members/passkey-store.ts';
import { NotificationStore } from './notifications/notification-store.ts';
import { Notifications } from './notifications/notifications.ts';
import type { PlanSource } from './plans/plan-source.ts';
import { type TemplateBounds, TemplateStore } from './templates/template-store.ts';

/** What an operator has set of sign-in and registration. */
export interface TenantsConfig {
  readonly PLATEN_OIDC_ISSUER?: string | undefined;
  readonly PLATEN_OIDC_AUDIENCE?: string | undefined;
  readonly PLATEN_OIDC_CLIENT_ID?: string | undefined;
  readonly PLATEN_OIDC_CLIENT_SECRET?: string | undefined;
  readonly PLATEN_REGISTRATION: RegistrationMode;
  readonly PLATEN_REGISTRATIONS_PER_ADDRESS: number;
  readonly PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT: number;
  readonly PLATEN_SIGN_IN_FAILURES_PER_ADDRESS: number;
}

interface TenantsCore extends Pick<Core, 'connection' | 'clock' | 'logger'> {
  readonly config: TenantsConfig;
  readonly plans: PlanSource;
  readonly accounts: AccountStore;
  readonly templateBounds?: TemplateBounds | undefined;
}

/** How long a link works that ends mails, in milliseconds: people read old mails. */
const UNSUBSCRIBE_LIFE_MS = 365 * 24 * 3_600_000;

export type Tenants = ReturnType<typeof openTenants>;
/** What a takeover ends or counts of the tenants' own. */
export type TakenOver = { readonly keyService: KeyService; readonly templates: TemplateStore };

/**
 * Accounts with sign-in, keys, audit log and mails, their templates and rates. To be opened once a process, before the
 * connection's indexes are created.
 *
 * @param stepsOf what carries takeovers out; without it, this process only begins them.
 */
export function openTenants(core: TenantsCore, stepsOf?: (opened: TakenOver) => readonly TakeoverStep[]) {
  const { connection, clock, config, plans, accounts } = core;
  const { PLATEN_OIDC_AUDIENCE: audience, PLATEN_OIDC_CLIENT_ID: clientId } = config;
  const issuer =
    config.PLATEN_OIDC_ISSUER === undefined
      ? undefined
      : new OidcIssuer({ issuer: config.PLATEN_OIDC_ISSUER, clock });
  const stores = openStores(core, accounts, {
    perAccount: config.PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT,
    perNetwork: config.PLATEN_SIGN_IN_FAILURES_PER_ADDRESS,
  });
  const { audit, outbox, tokens, memberships, failures } = stores;
  const keys = new KeyStore(connection, clock);
  const keyService = new KeyService({ keys, accounts, audit });
  const templates = new TemplateStore(connection, clock, core.templateBounds);
  const oidc =
    issuer === undefined || audience === undefined
      ? undefined
      : new OidcVerifier({ issuer, audience, clientId, clock });
  const access = new AccountAccess(stores);
  const accountService = new AccountService({ ...stores, plans });
  const oidcSignIn =
    issuer === undefined || clientId === undefined
      ? undefined
      : new OidcSignIn({
          ...{ ...stores, accountService, access },
          issuer: issuer.issuer,
          client: new OidcClient({ issuer, clock, clientId, clientSecret: config.PLATEN_OIDC_CLIENT_SECRET }),
        });
  const invitations = new InvitationStore(connection, clock);
  const limit = new RegistrationLimit(connection, clock, config.PLATEN_REGISTRATIONS_PER_ADDRESS);
  const takeover = new AccountTakeover({
    ...stores,
    accountService,
    takeovers: new TakeoverStore(connection, clock),
    steps: stepsOf?.({ keyService, templates }) ?? [],
  });
  const teamInvitations = new TeamInvitationStore(connection, clock);
  const recovery = new AccountRecovery({
    ...stores,
    ...{ accountService, takeover },
    countKeys: (accountId) => keys.countActive(accountId),
  });
  const mode = config.PLATEN_REGISTRATION;
  const registration = new Registration({ accountService, invitations, limit, mode });
  const challenges = new PasskeyChallenges(connection, clock);
  const passkeys = new Passkeys({ ...stores, challenges, passkeys: new PasskeyStore(connection, clock) });
  const secondFactors = new SecondFactors({ ...stores, passkeys });
  const signIn = new SignIn({ ...stores, secondFactors, passkeys, accountService, access, registration });
  const team = new Team({ ...stores, accountService, signIn, invitations: teamInvitations });
  const notifications = new Notifications({
    ...{ accounts, access, team, audit, clock },
    store: new NotificationStore(connection),
    links: new SignedLinks(connection, 'unsubscribe', UNSUBSCRIBE_LIFE_MS),
  });
  return {
    accounts,
    team,
    notifications,
    secondFactors,
    passkeys,
    teamInvitations,
    access,
    memberships,
    audit,
    outbox,
    keys,
    keyService,
    templates,
    tokens,
    accountService,
    takeover,
    invitations,
    recovery,
    limiter: new RateLimiter(connection, clock),
    deletions: new DeletionStore(connection, clock),
    signIn,
    oidcSignIn,
    /**
     * Opens what signs people in at the issuers of customers.
     *
     * @param fetch reaches only what customers may name.
     */
    openDomains: ({
      fetch,
      lookupText,
    }: {
      readonly fetch: typeof globalThis.fetch;
      readonly lookupText: LookupText;
    }) => ({
      signInDomains: new SignInDomains({ ...stores, lookupText }),
      domainSignIn: new DomainSignIn({ ...stores, accountService, access, fetch }),
    }),
    bearer: new BearerTokens({ ...stores, accountService, access, oidc }),
    /** @returns how many expired tokens, invitations and challenges, failures and counts, and old audit entries were deleted. */
    async deleteExpired(now: Date): Promise<number> {
      let deleted = await audit.deleteOld(now);
      for (const owner of [tokens, failures, invitations, teamInvitations, challenges, limit, recovery])
        deleted += await owner.deleteExpired(now);
      return deleted;
    },
  };
}
