import type { LookupText } from '../../infra/egress/text-records.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { AuditAction, DoneBy } from '../audit/audit-log.ts';
import { type IssuerSettings, MAX_DOMAINS, type SignInDomain } from '../members/sign-in-domain-store.ts';
import type { Acting } from './account-access.ts';
import type { Account } from './account-store.ts';
import type { Stores } from './stores.ts';

interface SignInDomainsDeps
  extends Pick<Stores, 'domains' | 'accounts' | 'memberships' | 'tokens' | 'audit'> {
  readonly lookupText: LookupText;
}

/** After this time name servers that did not answer may do so. */
const RETRY_AFTER_S = 30;

/** What is changed of a claim; a secret of null is removed. */
export type DomainChange = Partial<Omit<IssuerSettings, 'clientSecret'>> & {
  readonly clientSecret?: string | null;
};

/** The record that shows whose a domain is. */
export function proofOf({ domain, token }: Pick<SignInDomain, 'domain' | 'token'>) {
  return { type: 'TXT', name: `_platen.${domain}`, value: `platen-domain=${token}` } as const;
}

/** The domain of an address, in lower case. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}

/** The domain at whose issuer the person has to sign in to open the account; null when any sign-in will do. */
export function requiredDomain({ account, person, role }: Acting): string | null {
  const domain = domainOf(person.email ?? '');
  // The owner is never shut out, also when the issuer is away.
  const isFree = role === 'owner' || person.managedBy === account._id;
  return !isFree && account.issuerRequiredFor?.includes(domain) ? domain : null;
}

/**
 * The domains of accounts whose people sign in at an issuer of their own. Anybody may claim a domain; it counts once a
 * record of the domain names the claim. Each change is in the audit log.
 */
export class SignInDomains {
  readonly #deps: SignInDomainsDeps;

  constructor(deps: SignInDomainsDeps) {
    this.#deps = deps;
  }

  /** By domain. */
  async list(account: Account): Promise<SignInDomain[]> {
    const found = await this.#deps.domains.ofAccount(account._id);
    return found.filter(({ ownerFence }) => ownerFence === fenceOf(account));
  }

  /**
   * Claims a domain. Whether another account holds or claims it makes no difference.
   *
   * @throws PlatenError DOMAIN_CLAIMED when the account has claimed it already; DOMAIN_CAPACITY.
   */
  async claim(
    account: Account,
    claimed: Pick<SignInDomain, 'domain' | 'issuer' | 'clientId' | 'clientSecret' | 'role'>,
    by: DoneBy,
  ): Promise<SignInDomain> {
    const { domains } = this.#deps;
    const { domain } = claimed;
    const earlier = await domains.find(account._id, domain);
    if (earlier !== undefined && earlier.ownerFence === fenceOf(account))
      throw new PlatenError('DOMAIN_CLAIMED');
    // Of whoever had the account before.
    if (earlier !== undefined) await this.#end(account, earlier);
    if ((await this.list(account)).length >= MAX_DOMAINS) throw new PlatenError('DOMAIN_CAPACITY');
    const fields = { ...claimed, accountId: account._id, required: false, ownerFence: fenceOf(account) };
    const made = await domains.claim(fields);
    if (made === undefined) throw new PlatenError('DOMAIN_CLAIMED');
    await this.#record(account, 'domain.claimed', by, { domain, issuer: claimed.issuer });
    return made;
  }

  /**
   * Looks for the record that names the claim. Another account that held the domain loses it, unless the domain names
   * that as well.
   *
   * @throws PlatenError NOT_FOUND; DOMAIN_UNPROVEN; DOMAIN_TAKEN; UNAVAILABLE when the name servers do not answer.
   */
  async verify(account: Account, domain: string, by: DoneBy): Promise<SignInDomain> {
    const { domains, lookupText } = this.#deps;
    const claim = await this.#claimOf(account, domain);
    const { name, value } = proofOf(claim);
    const texts = await lookupText(name, account._id).catch((cause: unknown) => {
      throw new PlatenError('UNAVAILABLE', `The name servers of ${domain} could not be asked.`, {
        retryAfterSeconds: RETRY_AFTER_S,
        cause,
      });
    });
    if (!texts.includes(value))
      throw new PlatenError('DOMAIN_UNPROVEN', `There is no TXT record ${name} with the value ${value}.`);
    const holder = await domains.holding(domain);
    if (holder !== undefined && holder._id !== claim._id) {
      if (texts.includes(proofOf(holder).value)) throw new PlatenError('DOMAIN_TAKEN');
      await domains.release(holder);
      await this.#noteRequired(holder.accountId);
    }
    const held = await domains.hold(claim);
    if (held === undefined) throw new PlatenError('DOMAIN_TAKEN');
    await this.#record(account, 'domain.verified', by, { domain });
    return held;
  }

  /** @throws PlatenError NOT_FOUND; DOMAIN_UNPROVEN when a domain that is not verified is to be required. */
  async change(account: Account, domain: string, change: DomainChange, by: DoneBy): Promise<SignInDomain> {
    const claim = await this.#claimOf(account, domain);
    if (change.required && claim.heldDomain === undefined) throw new PlatenError('DOMAIN_UNPROVEN');
    const changed = await this.#deps.domains.change(account._id, domain, change);
    if (changed === undefined) throw notFound();
    await this.#noteRequired(account._id);
    const { required, role } = changed;
    await this.#record(account, 'domain.changed', by, { domain, role, required: `${required}` });
    return changed;
  }

  /** Removes a claim, and with it the people who sign in by it. @throws PlatenError NOT_FOUND */
  async remove(account: Account, domain: string, by: DoneBy): Promise<void> {
    await this.#end(account, await this.#claimOf(account, domain));
    await this.#record(account, 'domain.removed', by, { domain });
  }

  async #end(account: Account, claim: SignInDomain): Promise<void> {
    const { domains, accounts, memberships, tokens } = this.#deps;
    // Nobody new comes by it from now on.
    await domains.remove(claim);
    await this.#noteRequired(account._id);
    for (;;) {
      const people = await accounts.managedBy(account._id, claim.domain);
      for (const { _id } of people) {
        await memberships.remove(account._id, _id);
        await tokens.deleteOf(_id);
        await accounts.deleteManaged(_id);
      }
      if (people.length === 0) return;
    }
  }

  /** Notes with the account, which every request reads, for which domains the issuer is required. */
  async #noteRequired(accountId: string): Promise<void> {
    const { domains, accounts } = this.#deps;
    const found = await domains.ofAccount(accountId);
    const required = found.filter((one) => one.required && one.heldDomain !== undefined);
    await accounts.setIssuerRequired(
      accountId,
      required.map(({ domain }) => domain),
    );
  }

  async #claimOf(account: Account, domain: string): Promise<SignInDomain> {
    const found = await this.#deps.domains.find(account._id, domain);
    if (found === undefined || found.ownerFence !== fenceOf(account)) throw notFound();
    return found;
  }

  #record({ _id }: Account, action: AuditAction, by: DoneBy, details: Record<string, string>): Promise<void> {
    return this.#deps.audit.record({ accountId: _id, action, ...by, details });
  }
}

function fenceOf({ ownerFence = 0 }: Pick<Account, 'ownerFence'>): number {
  return ownerFence;
}

function notFound(): PlatenError {
  return new PlatenError('NOT_FOUND', 'The account has claimed no such domain.');
}
