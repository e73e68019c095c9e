import type { Core } from '../../infra/core.ts';
import { AuditLog } from '../audit/audit-log.ts';
import { MailOutbox } from '../mail/outbox.ts';
import { MembershipStore } from '../members/membership-store.ts';
import { SecondFactorStore } from '../members/second-factor-store.ts';
import { SignInDomainStore } from '../members/sign-in-domain-store.ts';
import { AccessTokenStore } from './access-token-store.ts';
import { AccountLinks } from './account-links.ts';
import type { AccountStore } from './account-store.ts';
import { FailureLimit } from './failure-limit.ts';
import { MailLimit } from './mail-limit.ts';

/** What several services of accounts stand on: `openStores` opens it once a process. */
export type Stores = ReturnType<typeof openStores>;

/** @param bounds of failed sign-ins. */
export function openStores(
  { connection, clock, logger }: Pick<Core, 'connection' | 'clock' | 'logger'>,
  accounts: AccountStore,
  bounds: ConstructorParameters<typeof FailureLimit>[2],
) {
  return {
    accounts,
    audit: new AuditLog(connection, clock, logger),
    outbox: new MailOutbox(connection, clock),
    tokens: new AccessTokenStore(connection, clock),
    failures: new FailureLimit(connection, clock, bounds),
    memberships: new MembershipStore(connection, clock),
    factors: new SecondFactorStore(connection, clock),
    domains: new SignInDomainStore(connection, clock),
    links: new AccountLinks(connection, clock),
    mailLimit: new MailLimit(connection, clock),
    clock,
    logger,
  };
}
