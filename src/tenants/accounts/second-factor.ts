import { PlatenError } from '../../infra/errors/registry.ts';
import { byAccount } from '../audit/audit-log.ts';
import { otpauthUri } from '../members/totp.ts';
import type { Account } from './account-store.ts';
import type { Session } from './bearer.ts';
import type { PasskeyProof, Passkeys } from './passkeys.ts';
import type { Stores } from './stores.ts';

/** What apps show beside the address. */
const ISSUER = 'Platen';

/** What a sign-in has given besides the password. */
interface GivenFactor {
  readonly code?: string | undefined;
  readonly passkey?: PasskeyProof | undefined;
}

interface SecondFactorsDeps extends Pick<Stores, 'factors' | 'failures' | 'tokens' | 'audit'> {
  readonly passkeys: Pick<Passkeys, 'list' | 'prove'>;
}

/** What a person's sign-ins need besides the password: a code of an authenticator app, a passkey, or a recovery code. */
export class SecondFactors {
  readonly #deps: SecondFactorsDeps;

  constructor(deps: SecondFactorsDeps) {
    this.#deps = deps;
  }

  /** Since when the person has an app, and how many recovery codes are left. */
  async stateOf(person: Account) {
    const factor = await this.#deps.factors.find(person);
    return { since: factor?.confirmedAt, recoveryCodesLeft: factor?.recoveryCodes.length ?? 0 };
  }

  /**
   * Requires a code or a passkey of a person who has a second factor; each code works once.
   *
   * @param address the client's IP address; undefined when the connection is closed already.
   * @returns whether there is a factor.
   * @throws PlatenError CODE_REQUIRED; WRONG_CODE; PASSKEY_REFUSED; TOO_MANY_FAILURES.
   */
  async require(
    person: Account,
    { code, passkey }: GivenFactor,
    address: string | undefined,
  ): Promise<boolean> {
    const { factors, passkeys, failures } = this.#deps;
    const [factor, known] = await Promise.all([factors.find(person), passkeys.list(person)]);
    if (factor?.confirmedAt === undefined && known.length === 0) return false;
    if (passkey !== undefined) {
      const { _id } = await passkeys.prove(passkey, address);
      if (!known.some((one) => one._id === _id)) throw new PlatenError('PASSKEY_REFUSED');
      return true;
    }
    if (code === undefined) throw new PlatenError('CODE_REQUIRED');
    const succeed = await failures.beginCode(person._id);
    if (factor === undefined || !(await factors.use(factor, code))) throw new PlatenError('WRONG_CODE');
    await succeed();
    return true;
  }

  /** @returns the secret of a new app, and as an address. @throws PlatenError SECOND_FACTOR_SET */
  async begin({ _id, email, ...rest }: Account): Promise<{ secret: Buffer; uri: string }> {
    const person = { _id, email, ...rest };
    await this.#requireNoApp(person);
    const secret = await this.#deps.factors.begin(person);
    return { secret, uri: otpauthUri(secret, email ?? _id, ISSUER) };
  }

  /**
   * Puts the app in force. The session of the request counts as signed in with it; others have to sign in again.
   *
   * @returns the recovery codes.
   * @throws PlatenError WRONG_CODE; SECOND_FACTOR_SET; TOO_MANY_FAILURES.
   */
  async confirm({ person, tokenId }: Session, code: string, address: string | undefined): Promise<string[]> {
    const { factors, failures, tokens, audit } = this.#deps;
    await this.#requireNoApp(person);
    const succeed = await failures.beginCode(person._id);
    const codes = await factors.confirm(person, code);
    if (codes === undefined) throw new PlatenError('WRONG_CODE');
    await succeed();
    await tokens.markSecondFactor(tokenId);
    await tokens.deleteOthers(person._id, tokenId);
    const by = byAccount(address, person._id);
    await audit.record({ accountId: person._id, action: 'second_factor.added', ...by });
    return codes;
  }

  /** @returns new recovery codes; the former ones do nothing any more. @throws PlatenError NOT_FOUND without a factor */
  async renewRecoveryCodes(person: Account): Promise<string[]> {
    const hasPasskey = (await this.#deps.passkeys.list(person)).length > 0;
    if (!hasPasskey && !(await this.#hasApp(person))) throw withoutFactor();
    return this.#deps.factors.renewRecoveryCodes(person);
  }

  /** Removes the app; passkeys stay. @throws PlatenError NOT_FOUND without an app */
  async remove({ person, tokenId }: Session, address: string | undefined): Promise<void> {
    const { factors, tokens, audit } = this.#deps;
    if (!(await this.#hasApp(person))) throw withoutFactor();
    if ((await this.#deps.passkeys.list(person)).length > 0) await factors.removeApp(person);
    else {
      await factors.remove(person);
      await tokens.forgetSecondFactor(tokenId);
    }
    await tokens.deleteOthers(person._id, tokenId);
    const by = byAccount(address, person._id);
    await audit.record({ accountId: person._id, action: 'second_factor.removed', ...by });
  }

  async #hasApp(person: Account): Promise<boolean> {
    return (await this.#deps.factors.find(person))?.confirmedAt !== undefined;
  }

  async #requireNoApp(person: Account): Promise<void> {
    if (await this.#hasApp(person)) throw new PlatenError('SECOND_FACTOR_SET');
  }
}

function withoutFactor(): PlatenError {
  return new PlatenError('NOT_FOUND', 'There is no second factor.');
}
