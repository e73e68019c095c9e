import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api, call } from './api.ts';
import { HAS_PASSKEYS, signInWithPasskey } from './passkey.ts';
import { Button } from './ui/button.tsx';
import { TextField } from './ui/field.tsx';
import { ErrorNote } from './ui/states.tsx';

/** Leads to the OpenID Connect issuer, and back to a page of the dashboard. */
function IssuerLink({ returnTo }: { returnTo: string }) {
  return (
    <p>
      <a className="button primary" href={`/auth/oidc/start?returnTo=${encodeURIComponent(returnTo)}`}>
        Sign in with your organization
      </a>
    </p>
  );
}

/** What may be the domain of a mail address. */
export const MAIL_DOMAIN = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i;

/** The address that leads to the issuer of a mail domain, and back to a page of the dashboard. */
export function domainSignIn(domain: string, returnTo: string): string {
  return `/auth/oidc/start?${new URLSearchParams({ domain, returnTo })}`;
}

/** The ways there are to sign in and to register. */
export function useAuthConfig() {
  return useQuery({ queryKey: ['config'], queryFn: () => call(api.GET('/auth/config')) });
}

/**
 * Asks for address and password, and begins a session with them; or leads to the issuer where there is one.
 *
 * @param returnTo the page to come back to from there. Default: the present page.
 */
export function SignInForm({
  email: known = '',
  returnTo = window.location.pathname + window.location.search,
  onSignedIn,
}: {
  email?: string;
  returnTo?: string;
  onSignedIn: () => void;
}) {
  const config = useAuthConfig();
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const byPassword = () =>
    call(api.POST('/auth/session', { body: { email, password, ...(code !== '' && { code }) } }));
  // Once the password was right, a passkey is the second factor.
  const byPasskey = () => signInWithPasskey(needsCode ? { email, password } : undefined);
  const submit = async (signIn: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await signIn();
      onSignedIn();
      setPassword('');
    } catch (failed) {
      setCode('');
      if (isAbout(failed, 'CODE_REQUIRED')) {
        // The password was right, and is sent once more with the code.
        setNeedsCode(true);
        setError(undefined);
        return;
      }
      setError(isUnknown(failed) ? new Error('The e-mail address or the password is wrong.') : failed);
      if (signIn === byPassword && !isAbout(failed, 'WRONG_CODE')) {
        setNeedsCode(false);
        setPassword('');
      }
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {config.data?.issuer && <IssuerLink returnTo={returnTo} />}
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(byPassword);
        }}
      >
        <TextField
          label="E-mail address"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={setEmail}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={setPassword}
        />
        {needsCode && <CodeField code={code} onChange={setCode} />}
        {error !== undefined && <ErrorNote error={error} />}
        <Button kind="primary" type="submit" busy={busy}>
          Sign in
        </Button>
        {HAS_PASSKEYS && (
          <Button busy={busy} onClick={() => void submit(byPasskey)}>
            {needsCode ? 'Use a passkey' : 'Sign in with a passkey'}
          </Button>
        )}
        {!needsCode && (
          <Button
            onClick={() => {
              const domain = email.slice(email.lastIndexOf('@') + 1);
              if (email.includes('@') && MAIL_DOMAIN.test(domain))
                window.location.assign(domainSignIn(domain, returnTo));
              else setError(new Error('Enter your e-mail address first. It says where you sign in.'));
            }}
          >
            Single sign-on
          </Button>
        )}
      </form>
    </>
  );
}

/** The code of an authenticator app, or a recovery code. */
export function CodeField({ code, onChange }: { code: string; onChange: (code: string) => void }) {
  return (
    <TextField
      label="Code"
      hint="From your authenticator app, or a recovery code."
      required
      // The person has just asked for it.
      autoFocus
      autoComplete="one-time-code"
      maxLength={32}
      value={code}
      onChange={onChange}
    />
  );
}

/** Whether it is an error of the service with this code. */
export function isAbout(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}

/** Whether the service knows nobody with these credentials. What it says besides is for whoever calls its API. */
export function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
