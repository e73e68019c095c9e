import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser';
import { useQuery } from '@tanstack/react-query';
import { api, call } from './api.ts';

/** Loaded when a passkey is used: most people sign in without. */
const webauthn = () => import('@simplewebauthn/browser');

/** Passkeys are made for a name, which a service at a bare address has not; browsers without them lack the type. */
export const HAS_PASSKEYS = 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(window.location.hostname);

/** The passkeys of the person. */
export function usePasskeys() {
  return useQuery({ queryKey: ['passkeys'], queryFn: () => call(api.GET('/auth/passkeys')) });
}

/** What `POST /auth/passkeys/registration` has answered. */
export type BegunPasskey = Awaited<ReturnType<typeof beginPasskey>>;

/**
 * Begins a session with a passkey: alone, or besides address and password.
 *
 * @throws Error in words for the person, also when nothing was chosen.
 */
export async function signInWithPasskey(credentials?: { email: string; password: string }): Promise<void> {
  const [{ startAuthentication }, optionsJSON] = await Promise.all([
    webauthn(),
    call(api.POST('/auth/passkeys/challenge')),
  ]);
  const { id, response } = await startAuthentication({ optionsJSON }).catch(inWords);
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const passkey = {
    ...{ id, clientDataJSON, authenticatorData, signature },
    ...(userHandle !== undefined && { userHandle }),
  };
  await call(api.POST('/auth/session', { body: { ...credentials, passkey } }));
}

/** Asks what a passkey is to be made with. */
export function beginPasskey() {
  return call(api.POST('/auth/passkeys/registration'));
}

/** Makes a passkey, and has it kept. @throws Error in words for the person, also when none was made. */
export async function makePasskey({ options }: BegunPasskey, name: string) {
  const { startRegistration } = await webauthn();
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const { id, response } = await startRegistration({ optionsJSON }).catch(inWords);
  const { clientDataJSON, attestationObject } = response;
  const credential = { id, clientDataJSON, attestationObject };
  return call(api.POST('/auth/passkeys', { body: { name, credential } }));
}

function inWords(error: unknown): never {
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidStateError') throw new Error('This device has a passkey for you already.');
  if (name === 'NotAllowedError' || name === 'AbortError')
    throw new Error('No passkey was chosen in time. Try again, or sign in another way.');
  if (name === 'SecurityError')
    throw new Error('Passkeys work at the public address of the service only. Open it there.');
  throw error;
}
