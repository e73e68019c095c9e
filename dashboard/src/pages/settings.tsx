import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { useAccount } from '../session.tsx';
import { domainSignIn } from '../sign-in-form.tsx';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmAddress, ConfirmationNeeded } from '../ui/confirm-address.tsx';
import { TextField } from '../ui/field.tsx';
import { Card, Facts, Page } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { browserOf } from '../user-agent.ts';
import { NotificationsCard } from './notifications.tsx';
import { PasskeysCard } from './passkeys.tsx';
import { SecondFactorCard } from './second-factor.tsx';

export default function Settings() {
  const account = useAccount();
  /** The account asks for a second factor first. */
  const isShutOut = account.secondFactorRequired && !account.secondFactor;
  return (
    <Page title="Settings">
      <Card title="Account" lead="Everyone in it sees its name, and whoever you invite.">
        {account.requiredDomain !== null && (
          <div className="note" role="status">
            <p>
              This account can only be opened through your organization.{' '}
              <a href={domainSignIn(account.requiredDomain, '/dashboard')}>Sign in there</a>.
            </p>
          </div>
        )}
        {account.role === 'owner' && <NameForm key={account.name} known={account.name} />}
        <Facts
          facts={[
            ...(account.role === 'owner' ? [] : [['Name', <bdi key="n">{account.name}</bdi>] as const]),
            [
              'E-mail address',
              <span key="e">
                <bdi>{account.email ?? 'none'}</bdi>
                {account.emailConfirmed && ' (confirmed)'}
              </span>,
            ],
            ['Created', <Time key="m" at={account.createdAt} exact />],
            [
              'Account id',
              <code key="i" className="id">
                {account.id}
              </code>,
            ],
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
      <Card title="Password" lead="A new one signs your other sessions out.">
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
      {account.signInBy !== 'issuer' && <PasskeysCard />}
      {account.signInBy === 'password' && <SecondFactorCard />}
      {account.role !== 'none' && !isShutOut && <NotificationsCard />}
      <Sessions />
    </Page>
  );
}

function NameForm({ known }: { known: string }) {
  const queries = useQueryClient();
  const [name, setName] = useState(known);
  const change = useMutation({
    mutationFn: () => call(api.PATCH('/user/account', { body: { name } })),
    onSuccess: () => {
      toast('The account has another name.');
      void queries.invalidateQueries({ queryKey: ['account'] });
      void queries.invalidateQueries({ queryKey: ['accounts'] });
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
      <TextField
        label="Account name"
        required
        maxLength={80}
        autoComplete="organization"
        value={name}
        onChange={setName}
      />
      {change.error !== null && <ErrorNote error={change.error} />}
      <Button type="submit" busy={change.isPending} disabled={name === known}>
        Change name
      </Button>
    </form>
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
    <Card title="Sessions" lead="Where you are signed in.">
      {sessions.error !== null && <ErrorNote error={sessions.error} retry={sessions.refetch} />}
      {sessions.isPending && <Loading />}
      <ul className="list rows">
        {sessions.data?.sessions.map(({ id, current, ipAddress, userAgent, lastUsedAt }) => (
          <li key={id}>
            <span title={userAgent ?? undefined}>
              <strong>{browserOf(userAgent ?? '')}</strong>{' '}
              {current && <span className="badge good">This browser</span>}
              <br />
              <span className="quiet">{ipAddress ?? 'Unknown address'}</span>
            </span>
            <span>
              Last used <Time at={lastUsedAt} />
            </span>
            {!current && (
              <Button icon={LogOut} busy={end.isPending} onClick={() => end.mutate(id)}>
                Sign out<span className="unseen"> the session from {ipAddress}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
