import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { ApiError, api, call } from '../api.ts';
import { domainSignIn, MAIL_DOMAIN, SignInForm, useAuthConfig } from '../sign-in-form.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { forgetSecret, Outside, secretInAddress } from './outside.tsx';

/** What came of signing in at the issuer, by what its callback says in the address. */
const ISSUER_PROBLEMS: Readonly<Record<string, string>> = {
  late: 'Signing in took too long, or was started in another window. Try again.',
  refused: 'Your organization did not sign you in. Try again, or ask whoever manages your access.',
  unknown: 'Nobody signs in through an organization with this address here. Check it, or use a password.',
  often: 'Too many attempts from your network. Wait a quarter of an hour, then try again.',
  full: 'The account of your organization has as many members as it may have. Ask its owner.',
  away: 'Your organization’s sign-in cannot be reached right now. Try again in a minute.',
};

export default function SignIn() {
  const [, navigate] = useLocation();
  const [params] = useSearchParams();
  const queries = useQueryClient();
  const config = useAuthConfig();
  const problem = ISSUER_PROBLEMS[params.get('issuer') ?? ''];
  const domain = params.get('domain') ?? '';
  const returnTo = `/dashboard${inside(params.get('returnTo'))}`;
  const [error, setError] = useState<unknown>();
  const enter = () => {
    queries.clear();
    navigate(inside(params.get('returnTo')) + window.location.hash);
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
      {error !== undefined && (isUsedLink(error) ? <UsedLink /> : <ErrorNote error={error} />)}
      {problem !== undefined && <ErrorNote error={new Error(problem)} />}
      {MAIL_DOMAIN.test(domain) && (
        <p>
          <a className="button primary" href={domainSignIn(domain, returnTo)}>
            Sign in at {domain}
          </a>
        </p>
      )}
      <SignInForm returnTo={returnTo} onSignedIn={enter} />
      <p>
        <Link href="/forgot">Forgot your password?</Link>
      </p>
      {config.data?.registration === 'open' && (
        <p>
          New here? <Link href="/register">Create an account</Link>
        </p>
      )}
      {config.data?.registration === 'invite' && (
        <p>
          Accounts are by invitation only. <Link href="/register">I have an invitation</Link>
        </p>
      )}
      {config.data?.registration === 'closed' && (
        <p>Registration is closed. Ask whoever runs this service for an account.</p>
      )}
    </Outside>
  );
}

/** The link came from a terminal, not by mail: how to get another. */
function UsedLink() {
  return (
    <div className="note error" role="alert">
      <p>
        This link has been used or has expired. Sign in with a password, or restart the service: it prints a
        new link. To set a password, run <code>platen accounts reset-password EMAIL</code> where the service
        runs.
      </p>
    </div>
  );
}

function isUsedLink(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'LINK_INVALID';
}

/** A page of the dashboard, whatever the address says. */
function inside(path: string | null): string {
  return path?.startsWith('/') && !path.startsWith('//') ? path : '/';
}

/** With the link that the service printed when it was started. */
async function signInOnce(oneTimeToken: string): Promise<void> {
  await call(api.POST('/auth/session', { body: { oneTimeToken } }));
}
