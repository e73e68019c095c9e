import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { api, call } from '../api.ts';
import { SignInForm, useAuthConfig } from '../sign-in-form.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { forgetSecret, Outside, secretInAddress } from './outside.tsx';

/** What came of signing in at the issuer, by what its callback says in the address. */
const ISSUER_PROBLEMS: Readonly<Record<string, string>> = {
  late: 'Signing in took too long, or was begun in another window. Try again.',
  refused: 'Your organization did not sign you in. Try again, or ask whoever manages your access.',
  away: 'The sign-in of your organization cannot be reached at the moment. Try again in a minute.',
};

export default function SignIn() {
  const [, navigate] = useLocation();
  const [params] = useSearchParams();
  const queries = useQueryClient();
  const config = useAuthConfig();
  const problem = ISSUER_PROBLEMS[params.get('issuer') ?? ''];
  const [error, setError] = useState<unknown>();
  const enter = () => {
    queries.clear();
    navigate(inside(params.get('returnTo')));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the link that was opened
  useEffect(() => {
    const token = secretInAddress('once');
    if (token === undefined) return;
    forgetSecret();
    signInOnce(token).then(enter, setError);
  }, []);
  return (
    <Outside title="Sign in">
      {error !== undefined && <ErrorNote error={error} />}
      {problem !== undefined && <ErrorNote error={new Error(problem)} />}
      <SignInForm returnTo={`/dashboard${inside(params.get('returnTo'))}`} onSignedIn={enter} />
      <p>
        <Link href="/forgot">Forgotten password</Link>
      </p>
      {config.data?.registration === 'open' && (
        <p>
          New here? <Link href="/register">Make an account</Link>
        </p>
      )}
      {config.data?.registration === 'invite' && (
        <p>
          Accounts are made by invitation. <Link href="/register">I have one</Link>
        </p>
      )}
      {config.data?.registration === 'closed' && (
        <p>Registration is closed: whoever operates this service makes accounts.</p>
      )}
    </Outside>
  );
}

/** A page of the dashboard, whatever the address says. */
function inside(path: string | null): string {
  return path?.startsWith('/') && !path.startsWith('//') ? path : '/';
}

/** With the link that the service printed when it was started. */
async function signInOnce(oneTimeToken: string): Promise<void> {
  await call(api.POST('/auth/session', { body: { oneTimeToken } }));
}
