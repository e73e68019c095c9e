import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { useAccount } from '../session.tsx';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmAddress, ConfirmationNeeded } from '../ui/confirm-address.tsx';
import { TextField } from '../ui/field.tsx';
import { Card, Facts, Page } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';

export default function Settings() {
  const account = useAccount();
  return (
    <Page title="Settings">
      <Card title="Account">
        <Facts
          facts={[
            [
              'E-mail address',
              <span key="e">
                <bdi>{account.email ?? 'none'}</bdi>
                {account.emailConfirmed && ' (confirmed)'}
              </span>,
            ],
            ['Account id', <code key="i">{account.id}</code>],
            ['Created', <Time key="m" at={account.createdAt} exact />],
            ...(account.takenOverAt === null
              ? []
              : [['Taken over', <Time key="t" at={account.takenOverAt} />] as const]),
          ]}
        />
        {account.confirmationNeeded ? (
          <ConfirmationNeeded />
        ) : (
          account.email !== null && !account.emailConfirmed && <ConfirmAddress />
        )}
      </Card>
      <Card title="Password">
        {account.signInBy === 'password' && <PasswordForm email={account.email ?? ''} />}
        {account.signInBy === 'issuer' && (
          <p>You sign in through your organization. Change your password there.</p>
        )}
        {account.signInBy === 'operator' && (
          <p>
            This account has no password. Whoever runs the service can set one with{' '}
            <code>platen accounts reset-password {account.email}</code>.
          </p>
        )}
      </Card>
      <Sessions />
    </Page>
  );
}

function PasswordForm({ email }: { email: string }) {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useMutation({
    mutationFn: async () => {
      await call(api.POST('/auth/password', { body: { currentPassword, newPassword } }));
    },
    onSuccess: () => {
      toast('Your password is changed. Other sessions have been signed out.');
      setCurrent('');
      setNew('');
    },
  });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <TextField
        label="Current password"
        type="password"
        required
        autoComplete="current-password"
        value={currentPassword}
        onChange={setCurrent}
      />
      <TextField
        label="New password"
        type="password"
        required
        autoComplete="new-password"
        value={newPassword}
        onChange={setNew}
      />
      {change.error !== null && <ErrorNote error={change.error} />}
      <Button type="submit" busy={change.isPending}>
        Change password
      </Button>
    </form>
  );
}

function Sessions() {
  const queries = useQueryClient();
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: () => call(api.GET('/auth/sessions', { params: { query: { limit: 100 } } })),
  });
  const end = useMutation({
    mutationFn: (id: string) => call(api.DELETE('/auth/sessions/{id}', { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
    onError: toastError,
  });
  return (
    <Card title="Sessions">
      {sessions.error !== null && <ErrorNote error={sessions.error} retry={sessions.refetch} />}
      {sessions.isPending && <Loading />}
      <ul className="list rows">
        {sessions.data?.sessions.map(({ id, current, ipAddress, userAgent, lastUsedAt }) => (
          <li key={id}>
            <span>
              {ipAddress ?? 'Unknown address'}
              {current ? ', this browser' : ''}
              <br />
              <span className="quiet wrap">
                <bdi>{userAgent ?? ''}</bdi>
              </span>
            </span>
            <span>
              Last used <Time at={lastUsedAt} />
            </span>
            {!current && (
              <Button busy={end.isPending} onClick={() => end.mutate(id)}>
                Sign out<span className="unseen"> the session from {ipAddress}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
