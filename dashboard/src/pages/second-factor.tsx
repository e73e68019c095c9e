import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { usePasskeys } from '../passkey.ts';
import { useAccount } from '../session.tsx';
import { Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Card } from '../ui/page.tsx';
import { QrCode } from '../ui/qr-code.tsx';
import { RecoveryCodes } from '../ui/recovery-codes.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { SubmitForm } from '../ui/submit-form.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { useWithPassword } from '../ui/with-password.tsx';

type Open =
  | { what: 'app'; secret: string; uri: string }
  | { what: 'codes'; codes: readonly string[] }
  | { what: 'remove' };

/** The authenticator app of a person. */
export function SecondFactorCard() {
  const queries = useQueryClient();
  const { secondFactor, secondFactorRequired } = useAccount();
  const [open, setOpen] = useState<Open>();
  const [run, password] = useWithPassword();
  const factor = useQuery({
    queryKey: ['second-factor'],
    queryFn: () => call(api.GET('/auth/second-factor')),
  });
  const reload = () => {
    void queries.invalidateQueries({ queryKey: ['second-factor'] });
    void queries.invalidateQueries({ queryKey: ['account'] });
    void queries.invalidateQueries({ queryKey: ['sessions'] });
  };
  const begin = () =>
    run(async () => setOpen({ what: 'app', ...(await call(api.POST('/auth/second-factor'))) }));
  const renew = () =>
    run(async () => {
      const { recoveryCodes } = await call(api.POST('/auth/second-factor/recovery-codes'));
      setOpen({ what: 'codes', codes: recoveryCodes });
      reload();
    });
  const remove = () =>
    run(async () => {
      await call(api.DELETE('/auth/second-factor'));
      toast('The app is removed.');
      setOpen(undefined);
      reload();
    });
  const since = factor.data?.since ?? null;
  const hasPasskey = (usePasskeys().data?.passkeys.length ?? 0) > 0;
  return (
    <Card title="Second factor" lead="A code from an authenticator app on your phone, besides your password.">
      {secondFactorRequired && !secondFactor && (
        <div className="note" role="status">
          <p>
            This account can only be opened with a second factor.{' '}
            {since === null && !hasPasskey
              ? 'Set one up to continue.'
              : 'Sign out, then sign in with a code or a passkey.'}
          </p>
        </div>
      )}
      {factor.error !== null && <ErrorNote error={factor.error} retry={factor.refetch} />}
      {factor.data !== undefined && since === null && (
        <Button onClick={() => begin().catch(toastError)}>Set up an app</Button>
      )}
      {since !== null && (
        <p>
          An authenticator app is set up since <Time at={since} />.
        </p>
      )}
      {factor.data !== undefined && (since !== null || hasPasskey) && (
        <>
          <p>{factor.data.recoveryCodesLeft} recovery codes are left.</p>
          <span className="actions">
            <Button onClick={() => renew().catch(toastError)}>New recovery codes</Button>
            {since !== null && <Button onClick={() => setOpen({ what: 'remove' })}>Remove the app</Button>}
          </span>
        </>
      )}
      <Dialog title="Set up an app" open={open?.what === 'app'} onClose={() => setOpen(undefined)}>
        {open?.what === 'app' && (
          <AppForm
            secret={open.secret}
            uri={open.uri}
            onDone={(codes) => {
              setOpen({ what: 'codes', codes });
              reload();
            }}
          />
        )}
      </Dialog>
      <RecoveryCodes
        codes={open?.what === 'codes' ? open.codes : undefined}
        onClose={() => setOpen(undefined)}
      />
      <Dialog title="Remove the app?" open={open?.what === 'remove'} onClose={() => setOpen(undefined)}>
        <p>
          {hasPasskey
            ? 'Signing in with your password needs one of your passkeys then.'
            : 'Signing in needs only your password then. Accounts that require a second factor can no longer be opened.'}
        </p>
        <Button kind="danger" onClick={() => remove().catch(toastError)}>
          Remove
        </Button>
      </Dialog>
      {password}
    </Card>
  );
}

function AppForm({
  secret,
  uri,
  onDone,
}: {
  secret: string;
  uri: string;
  onDone: (codes: readonly string[]) => void;
}) {
  const [code, setCode] = useState('');
  const confirm = useMutation({
    mutationFn: () => call(api.POST('/auth/second-factor/confirm', { body: { code } })),
    onSuccess: ({ recoveryCodes }) => onDone(recoveryCodes),
  });
  return (
    <SubmitForm sends={confirm} button="Turn on">
      <p>
        Scan the code with your authenticator app, enter the key there, or open{' '}
        <a href={uri}>the app on this device</a>.
      </p>
      <QrCode label="QR code of the key" text={uri} />
      <Code label="Key" text={secret} />
      <TextField
        label="Code"
        hint="The six digits that the app shows now."
        required
        inputMode="numeric"
        pattern="[0-9]{6}"
        autoComplete="one-time-code"
        value={code}
        onChange={setCode}
      />
    </SubmitForm>
  );
}
