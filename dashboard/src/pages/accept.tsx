import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { MEMBER_ROLES, ROLE_NAMES } from '../roles.ts';
import { retryUnlessRefused } from '../session.tsx';
import { CodeField, isAbout, isUnknown, useAuthConfig } from '../sign-in-form.tsx';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { Outside, secretInAddress } from './outside.tsx';

/** What the link of an invitation opens. Accepted by a press, because programs that look through mail open links as well. */
export default function Accept() {
  const [token] = useState(() => secretInAddress('token') ?? '');
  const config = useAuthConfig();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const offered = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call(api.POST('/auth/invitations', { body: { token } })),
    retry: retryUnlessRefused,
    enabled: token !== '',
  });
  const me = useQuery({
    queryKey: ['visitor'],
    queryFn: () => call(api.GET('/auth/me')),
    retry: false,
  });
  const accept = useMutation({
    mutationFn: () =>
      call(
        api.POST('/auth/invitations/accept', {
          body: { token, ...(password !== '' && { password }), ...(code !== '' && { code }) },
        }),
      ),
    // Nothing of an account that this browser has shown before may stay.
    onSuccess: () => window.location.assign('/dashboard/'),
  });
  if (token === '')
    return (
      <Outside title="Invitation">
        <p role="alert">The link is incomplete. Open it from the e-mail again.</p>
      </Outside>
    );
  if (offered.error !== null)
    return (
      <Outside title="Invitation">
        <ErrorNote error={offered.error} />
        <Link href="/">Go to the dashboard</Link>
      </Outside>
    );
  if (offered.data === undefined || me.isPending)
    return (
      <Outside title="Invitation">
        <Loading />
      </Outside>
    );
  const { email, role, name, ownerEmail, hasSignIn } = offered.data;
  const isSignedIn = me.data?.email === email;
  const length = config.data?.passwordLength;
  return (
    <Outside title="You are invited">
      <p>
        <bdi className="wrap">{ownerEmail ?? 'The owner of an account'}</bdi> invites{' '}
        <bdi className="wrap">{email}</bdi> to <bdi className="wrap">{name}</bdi> as <b>{ROLE_NAMES[role]}</b>
        : {MEMBER_ROLES.find(([name]) => name === role)?.[1]}
      </p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          accept.mutate();
        }}
      >
        {!isSignedIn && (
          <>
            <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
            <TextField
              label={hasSignIn ? 'Your password' : 'Choose a password'}
              hint={
                hasSignIn
                  ? 'The one you sign in with here.'
                  : length && `${length.min} to ${length.max} characters. You sign in with it from now on.`
              }
              type="password"
              required
              minLength={hasSignIn ? undefined : length?.min}
              autoComplete={hasSignIn ? 'current-password' : 'new-password'}
              value={password}
              onChange={setPassword}
            />
          </>
        )}
        {(code !== '' || isAbout(accept.error, 'CODE_REQUIRED') || isAbout(accept.error, 'WRONG_CODE')) && (
          <>
            <CodeField code={code} onChange={setCode} />
            <p className="quiet">
              Do you have a passkey? <Link href="/sign-in">Sign in</Link> with it first, then open the link in
              the e-mail again.
            </p>
          </>
        )}
        {accept.error !== null && !isAbout(accept.error, 'CODE_REQUIRED') && (
          <ErrorNote error={saidOf(accept.error)} />
        )}
        <Button kind="primary" type="submit" busy={accept.isPending}>
          Accept invitation
        </Button>
      </form>
      {!isSignedIn && hasSignIn && <Link href="/forgot">Reset the password</Link>}
      {!isSignedIn && config.data?.issuer && (
        <p className="quiet">
          Do you sign in with your organization? <Link href="/sign-in">Sign in</Link> first, then open the
          link in the e-mail again.
        </p>
      )}
    </Outside>
  );
}

function saidOf(error: unknown): unknown {
  if (isUnknown(error)) return new Error('The password is wrong.');
  return error;
}
