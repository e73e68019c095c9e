import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { isDuplicateKey } from '../../infra/store/duplicate-key.ts';
import type { MemberRole } from './roles.ts';

/** The issuer at which people with addresses of a domain sign in to an account. */
export interface SignInDomain {
  /** `<account>:<domain>`: any account may claim a domain, and one at a time holds it. */
  readonly _id: string;
  readonly accountId: string;
  /** In lower case. */
  readonly domain: string;
  /** What a record of the domain has to contain. */
  readonly token: string;
  /** The issuer identifier, https. */
  readonly issuer: string;
  readonly clientId: string;
  /** As it is: the issuer is sent it. Absent for a public client. */
  readonly clientSecret?: string;
  /** Of people who sign in for the first time. */
  readonly role: MemberRole;
  /** Whether members with addresses of the domain may open the account only through the issuer. */
  readonly required: boolean;
  readonly createdAt: Date;
  /** When a record of the domain showed that it is the account's; absent until then. */
  readonly verifiedAt?: Date;
  /** The domain, as long as the account holds it. */
  readonly heldDomain?: string;
  /** Of the account when it was claimed. It counts with that fence only. */
  readonly ownerFence: number;
}

/** What an owner says of an issuer. */
export type IssuerSettings = Pick<SignInDomain, 'clientId' | 'clientSecret' | 'role' | 'required'>;

/** The most domains of an account. */
export const MAX_DOMAINS = 10;
const TOKEN_BYTES = 20;

const DOMAINS: CollectionSpec = {
  name: 'sign_in_domains',
  account: 'accountId',
  indexes: [
    { fields: { heldDomain: 1 }, unique: true, sparse: true },
    // Unique because it contains the id: see docs/decisions/0178.
    { fields: { accountId: 1, _id: 1 }, unique: 'embedded' },
  ],
};

/** Owns the claims of accounts to domains, with what they say of their issuers. */
export class SignInDomainStore {
  readonly #domains: Collection<SignInDomain>;
  readonly #clock: Clock;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    this.#domains = new Collection(connection, DOMAINS);
    this.#clock = clock;
  }

  /** The claims of an account, by domain. */
  ofAccount(accountId: string): Promise<SignInDomain[]> {
    return this.#domains.find({ accountId }, { sort: { _id: 1 }, limit: 2 * MAX_DOMAINS });
  }

  find(accountId: string, domain: string): Promise<SignInDomain | undefined> {
    return this.#domains.findById(idOf(accountId, domain));
  }

  /** The claim of the account that holds a domain. */
  holding(domain: string): Promise<SignInDomain | undefined> {
    return this.#domains.findOne({ heldDomain: domain });
  }

  /** Claims a domain, which the account does not hold by that. @returns false when it has claimed it already. */
  async claim(
    fields: Pick<SignInDomain, 'accountId' | 'domain' | 'issuer' | 'ownerFence'> & IssuerSettings,
  ): Promise<SignInDomain | undefined> {
    const claimed: SignInDomain = {
      ...fields,
      _id: idOf(fields.accountId, fields.domain),
      token: randomBytes(TOKEN_BYTES).toString('base64url'),
      createdAt: this.#clock.now(),
    };
    return (await this.#domains.insertIfAbsent(claimed)) ? claimed : undefined;
  }

  /** @param clientSecret null removes it. @returns undefined when the account has not claimed the domain. */
  change(
    accountId: string,
    domain: string,
    {
      clientSecret,
      ...fields
    }: Partial<Omit<IssuerSettings, 'clientSecret'>> & { readonly clientSecret?: string | null },
  ): Promise<SignInDomain | undefined> {
    return this.#domains.findOneAndUpdate(
      { _id: idOf(accountId, domain) },
      {
        $set: { domain, ...fields, ...(typeof clientSecret === 'string' && { clientSecret }) },
        ...(clientSecret === null && { $unset: { clientSecret: '' } as const }),
      },
    );
  }

  /**
   * Gives the domain to the account.
   *
   * @returns undefined when another account holds it, or the claim is gone.
   */
  async hold({ _id, domain }: SignInDomain): Promise<SignInDomain | undefined> {
    const $set = { heldDomain: domain, verifiedAt: this.#clock.now() };
    try {
      return await this.#domains.findOneAndUpdate({ _id }, { $set });
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  /** Takes the domain from the account, which has to show anew that it is its own. */
  async release({ _id }: SignInDomain): Promise<void> {
    const $unset = { heldDomain: '', verifiedAt: '' } as const;
    await this.#domains.updateOne({ _id }, { $set: { required: false }, $unset });
  }

  /** @returns false when there is no such claim. */
  remove({ _id }: Pick<SignInDomain, '_id'>): Promise<boolean> {
    return this.#domains.deleteOne({ _id });
  }
}

function idOf(accountId: string, domain: string): string {
  return `${accountId}:${domain}`;
}
