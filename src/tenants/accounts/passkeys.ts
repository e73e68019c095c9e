import type { PublicKeyCredentialCreationOptionsJSON, WebAuthnCredential } from '@simplewebauthn/server';
import { PlatenError } from '../../infra/errors/registry.ts';
import { byAccount } from '../audit/audit-log.ts';
import { MAX_PASSKEYS, type Passkey, type PasskeyStore } from '../members/passkey-store.ts';
import type { Account } from './account.ts';
import type { Session } from './bearer.ts';
import { CHALLENGE_MS, type PasskeyChallenges } from './passkey-challenges.ts';
import type { Stores } from './stores.ts';

/** What browsers show beside the address. */
const RP_NAME = 'Platen';
/** Attestations that browsers pass on when none is asked for; others name certificates, which nobody has to look at. */
const ATTESTATIONS: readonly string[] = ['none', 'packed'];

/** EdDSA, ES256 and RS256, as COSE numbers them: what authenticators have. */
const ALGORITHMS = [-8, -7, -257];

/** What a browser says of a passkey that it has made; binary fields in base64url. */
export interface NewCredential {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly attestationObject: string;
}

/** What a passkey has signed; binary fields in base64url. */
export interface PasskeyAssertion {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
  readonly userHandle?: string | undefined;
}

/** An assertion, and the address of the service whose pages may have asked for it. */
export interface PasskeyProof {
  readonly assertion: PasskeyAssertion;
  readonly publicUrl: string;
}

interface PasskeysDeps extends Pick<Stores, 'factors' | 'failures' | 'tokens' | 'audit'> {
  readonly passkeys: PasskeyStore;
  readonly challenges: PasskeyChallenges;
}

/** Loaded at the first use: few processes and few people need it. */
const webauthn = () => import('@simplewebauthn/server');

/** The passkeys of people (WebAuthn Level 3). Each verifies who uses it, and names its person by itself. */
export class Passkeys {
  readonly #deps: PasskeysDeps;

  constructor(deps: PasskeysDeps) {
    this.#deps = deps;
  }

  /** The oldest first. */
  list(person: Account): Promise<Passkey[]> {
    return this.#deps.passkeys.ofPerson(person);
  }

  /**
   * What a browser asks for a signature with, to sign in or as a second factor. It names nobody.
   *
   * @param address the client's IP address; undefined when the connection is closed already.
   * @throws PlatenError TOO_MANY_FAILURES
   */
  async challenge(publicUrl: string, address: string | undefined) {
    await this.#deps.failures.beginPasskey(address);
    const { secret } = await this.#deps.challenges.create({}, CHALLENGE_MS);
    return {
      challenge: secret,
      rpId: partyOf(publicUrl).rpId,
      timeout: CHALLENGE_MS,
      userVerification: 'required',
    } as const;
  }

  /**
   * What a browser makes a passkey with.
   *
   * @throws PlatenError VALIDATION for a person of an issuer; PASSKEY_CAPACITY; TOO_MANY_FAILURES.
   */
  async begin(
    { person, tokenId }: Session,
    publicUrl: string,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    requireOwnSignIn(person);
    const { challenges, failures } = this.#deps;
    const known = await this.list(person);
    if (known.length >= MAX_PASSKEYS) throw new PlatenError('PASSKEY_CAPACITY');
    await failures.beginRegistration(person._id);
    const { secret } = await challenges.create({ accountId: person._id, tokenId }, CHALLENGE_MS);
    const { generateRegistrationOptions } = await webauthn();
    const name = person.email ?? person._id;
    return generateRegistrationOptions({
      rpName: RP_NAME,
      rpID: partyOf(publicUrl).rpId,
      userName: name,
      userDisplayName: name,
      userID: handleOf(person._id),
      challenge: new Uint8Array(Buffer.from(secret, 'base64url')),
      timeout: CHALLENGE_MS,
      excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId })),
      supportedAlgorithmIDs: ALGORITHMS,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /**
   * Keeps a passkey that a browser has made. With the first factor of a person, every other session ends, and this one
   * counts as signed in with it.
   *
   * @returns it, and recovery codes when it is the person's first factor.
   * @throws PlatenError PASSKEY_REFUSED; PASSKEY_CAPACITY; VALIDATION for a person of an issuer.
   */
  async add(
    { person, tokenId }: Session,
    { name, credential, publicUrl }: { name: string; credential: NewCredential; publicUrl: string },
    address: string | undefined,
  ): Promise<{ readonly passkey: Passkey; readonly recoveryCodes: string[] | null }> {
    requireOwnSignIn(person);
    const { passkeys, challenges, factors, tokens, audit } = this.#deps;
    const challenge = challengeIn(credential.clientDataJSON);
    const isOwn = (made: { accountId?: string; tokenId?: string }) =>
      made.accountId === person._id && made.tokenId === tokenId;
    if ((await challenges.take(challenge, isOwn)) === undefined) throw new PlatenError('PASSKEY_REFUSED');
    const made = await this.#verifiedNew(credential, challenge, publicUrl);
    const before = await this.list(person);
    if (before.length >= MAX_PASSKEYS) throw new PlatenError('PASSKEY_CAPACITY');
    const isFirst = before.length === 0 && (await factors.find(person))?.confirmedAt === undefined;
    const passkey = await passkeys.add(person, {
      credentialId: made.id,
      name,
      publicKey: Buffer.from(made.publicKey).toString('base64url'),
      counter: made.counter,
    });
    if (passkey === undefined) throw new PlatenError('PASSKEY_REFUSED', 'The passkey is in use already.');
    await audit.record({
      ...{ accountId: person._id, action: 'passkey.added', ...byAccount(address, person._id) },
      details: { name },
    });
    if (!isFirst) return { passkey, recoveryCodes: null };
    await tokens.markSecondFactor(tokenId);
    await tokens.deleteOthers(person._id, tokenId);
    return { passkey, recoveryCodes: await factors.renewRecoveryCodes(person) };
  }

  /** @throws PlatenError NOT_FOUND when the person has no such passkey. */
  async rename(person: Account, id: string, name: string): Promise<Passkey> {
    return (await this.#deps.passkeys.rename(person, id, name)) ?? notFound();
  }

  /** Ends every other session as well. @throws PlatenError NOT_FOUND when the person has no such passkey. */
  async remove({ person, tokenId }: Session, id: string, address: string | undefined): Promise<void> {
    const { passkeys, factors, tokens, audit } = this.#deps;
    const name = (await this.list(person)).find(({ _id }) => _id === id)?.name ?? notFound();
    if (!(await passkeys.remove(person, id))) notFound();
    const isLast = (await this.list(person)).length === 0;
    if (isLast && (await factors.find(person))?.confirmedAt === undefined) {
      await factors.remove(person);
      await tokens.forgetSecondFactor(tokenId);
    }
    await tokens.deleteOthers(person._id, tokenId);
    await audit.record({
      ...{ accountId: person._id, action: 'passkey.removed', ...byAccount(address, person._id) },
      details: { name },
    });
  }

  /** Whether a passkey has been removed since it was used. */
  async isGone({ credentialId }: Passkey): Promise<boolean> {
    return (await this.#deps.passkeys.byCredential(credentialId)) === undefined;
  }

  /**
   * Uses up a challenge. Whether the passkey is of the right person, and counts with the person's fence, is left to the
   * caller.
   *
   * @param address the client's IP address; undefined when the connection is closed already.
   * @throws PlatenError PASSKEY_REFUSED, whatever is wrong.
   */
  async prove({ assertion, publicUrl }: PasskeyProof, address: string | undefined): Promise<Passkey> {
    const { passkeys, challenges, failures } = this.#deps;
    const { id, clientDataJSON, authenticatorData, signature, userHandle } = assertion;
    const challenge = challengeIn(clientDataJSON);
    const taken = await challenges.take(challenge, ({ accountId }) => accountId === undefined);
    const passkey = taken && (await passkeys.byCredential(id));
    if (passkey === undefined) throw new PlatenError('PASSKEY_REFUSED');
    const isNamed =
      userHandle === undefined || Buffer.from(userHandle, 'base64url').equals(handleOf(passkey.accountId));
    if (!isNamed) throw new PlatenError('PASSKEY_REFUSED');
    const { origin, rpId } = partyOf(publicUrl);
    const { verifyAuthenticationResponse } = await webauthn();
    const { verified, authenticationInfo } = await refusing(() =>
      verifyAuthenticationResponse({
        response: {
          ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
          response: { clientDataJSON, authenticatorData, signature },
        },
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpId,
        credential: {
          id,
          publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
          counter: passkey.counter,
        },
        requireUserVerification: true,
      }),
    );
    // Of two signatures with the same counter one was made by a copy.
    if (!verified || !(await passkeys.noteUse(passkey, authenticationInfo.newCounter)))
      throw new PlatenError('PASSKEY_REFUSED');
    await failures.passkeySucceeded(address);
    return passkey;
  }

  async #verifiedNew(
    { id, clientDataJSON, attestationObject }: NewCredential,
    challenge: string,
    publicUrl: string,
  ): Promise<WebAuthnCredential> {
    const { origin, rpId } = partyOf(publicUrl);
    const { verifyRegistrationResponse } = await webauthn();
    const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
    const { registrationInfo } = await refusing(async () => {
      const attested = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
      // A chain of certificates would have its revocation lists fetched, from wherever it says.
      if (!ATTESTATIONS.includes(attested.get('fmt')) || attested.get('attStmt').get('x5c') !== undefined)
        throw new Error('attested by a certificate');
      return verifyRegistrationResponse({
        response: {
          ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
          response: { clientDataJSON, attestationObject },
        },
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpId,
        supportedAlgorithmIDs: ALGORITHMS,
        requireUserVerification: true,
      });
    });
    if (registrationInfo?.credential.id !== id) throw new PlatenError('PASSKEY_REFUSED');
    return registrationInfo.credential;
  }
}

/** The origin of the pages, and the name that passkeys are made for. */
function partyOf(publicUrl: string): { readonly origin: string; readonly rpId: string } {
  const { origin, hostname } = new URL(publicUrl);
  return { origin, rpId: hostname };
}

/** By which a passkey names its person. */
function handleOf(personId: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(personId));
}

/** The challenge that was signed, as far as it can be read. */
function challengeIn(clientDataJSON: string): string {
  try {
    const said = Object(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())) as {
      challenge?: unknown;
    };
    return typeof said.challenge === 'string' ? said.challenge : '';
  } catch {
    return '';
  }
}

/** The library throws errors of many kinds for what is not valid. */
async function refusing<Verified>(verify: () => Promise<Verified>): Promise<Verified> {
  try {
    return await verify();
  } catch (cause) {
    throw new PlatenError('PASSKEY_REFUSED', undefined, { cause });
  }
}

/** @throws PlatenError VALIDATION: who left the organization of the issuer would still sign in. */
function requireOwnSignIn({ login }: Account): void {
  if (login === undefined)
    throw new PlatenError('VALIDATION', 'You sign in through an issuer: set up a passkey there.');
}

function notFound(): never {
  throw new PlatenError('NOT_FOUND', 'There is no such passkey.');
}
