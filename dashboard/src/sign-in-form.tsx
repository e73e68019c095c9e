import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api, call } from './api.ts';
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
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    try {
      await call(api.POST('/auth/session', { body: { email, password } }));
      onSignedIn();
    } catch (failed) {
      setError(isUnknown(failed) ? new Error('The e-mail address or the password is wrong.') : failed);
    } finally {
      setBusy(false);
      setPassword('');
    }
  };
  return (
    <>
      {config.data?.issuer && <IssuerLink returnTo={returnTo} />}
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
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
        {error !== undefined && <ErrorNote error={error} />}
        <Button kind="primary" type="submit" busy={busy}>
          Sign in
        </Button>
      </form>
    </>
  );
}

/** Whether the service knows nobody with these credentials. What it says besides is for whoever calls its API. */
export function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
