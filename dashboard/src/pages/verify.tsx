import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { ApiError, api, call } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { forgetSecret, Outside, secretInAddress } from './outside.tsx';

interface Proof {
  /** Of whoever made the account. */
  readonly password?: string;
  /** Of whoever did not, and takes it over. */
  readonly newPassword?: string;
}

/**
 * Confirmed by a press, because programs that look through mail open links as well. In a browser that is not signed in to
 * the account the press alone does not do: somebody else may have made the account with this address.
 */
export default function Verify() {
  const [token] = useState(() => secretInAddress('token') ?? '');
  const verify = useMutation({
    mutationFn: (proof: Proof) => call(api.POST('/auth/email/verify', { body: { token, ...proof } })),
    onSuccess: forgetSecret,
  });
  const [unproven, setUnproven] = useState<ApiError>();
  const confirm = () =>
    verify.mutate({}, { onError: (error) => isUnproven(error) && setUnproven(error as ApiError) });
  const isTakenOver = verify.variables?.newPassword !== undefined;
  return (
    <Outside title="Confirm your e-mail address">
      {verify.isSuccess && (
        <p role="status">
          {isTakenOver
            ? 'The account is yours. Everything that was running under it has been ended; an e-mail lists what that was.'
            : 'Your e-mail address is confirmed.'}
        </p>
      )}
      {!verify.isSuccess && unproven === undefined && (
        <Button kind="primary" busy={verify.isPending} disabled={token === ''} onClick={confirm}>
          Confirm this address
        </Button>
      )}
      {!verify.isSuccess && unproven !== undefined && (
        <>
          <p role="alert">{unproven.message}</p>
          <Proof
            title="I created this account"
            label="Password"
            hint="The account’s password. Everything stays as it is."
            autoComplete="current-password"
            action="Confirm address"
            kind="primary"
            busy={verify.isPending}
            onProof={(password) => verify.mutate({ password })}
          />
          <Proof
            title="Someone else created it"
            label="New password"
            hint="The account becomes yours. Its sessions, API keys, signing keys and queued renders are ended; its templates are kept."
            autoComplete="new-password"
            action="Take over the account"
            kind="danger"
            busy={verify.isPending}
            onProof={(newPassword) => verify.mutate({ newPassword })}
          />
        </>
      )}
      {token === '' && <p role="alert">The link is incomplete. Open it from the e-mail again.</p>}
      {verify.error !== null && !isUnproven(verify.error) && <ErrorNote error={verify.error} />}
      <Link href="/">Go to the dashboard</Link>
    </Outside>
  );
}

interface ProofProps {
  readonly title: string;
  readonly label: string;
  readonly hint: string;
  readonly autoComplete: 'current-password' | 'new-password';
  readonly action: string;
  readonly kind: 'primary' | 'danger';
  readonly busy: boolean;
  readonly onProof: (password: string) => void;
}

/** A form with one password, which proves who the account belongs to. */
function Proof({ title, label, hint, autoComplete, action, kind, busy, onProof }: ProofProps) {
  const [password, setPassword] = useState('');
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onProof(password);
      }}
    >
      <h2>{title}</h2>
      <TextField
        label={label}
        hint={hint}
        type="password"
        required
        autoComplete={autoComplete}
        value={password}
        onChange={setPassword}
      />
      <Button kind={kind} type="submit" busy={busy}>
        {action}
      </Button>
    </form>
  );
}

function isUnproven(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'CONFIRMATION_UNPROVEN';
}
