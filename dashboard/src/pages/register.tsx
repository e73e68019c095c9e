import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, call } from '../api.ts';
import { isUnknown, useAuthConfig } from '../sign-in-form.tsx';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { Outside } from './outside.tsx';

export default function Register() {
  const [, navigate] = useLocation();
  const config = useAuthConfig();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [invitation, setInvitation] = useState('');
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    try {
      const body = { email, password, ...(invitation !== '' && { invitation }) };
      await call(api.POST('/auth/register', { body }));
      await call(api.POST('/auth/session', { body: { email, password } }));
      navigate('/');
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  if (config.data?.registration === 'closed')
    return (
      <Outside title="Registration is closed">
        <p>Ask whoever runs this service for an account.</p>
        <Link href="/sign-in">Sign in</Link>
      </Outside>
    );
  const length = config.data?.passwordLength;
  return (
    <Outside title="Create an account">
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
          required
          autoComplete="username"
          value={email}
          onChange={setEmail}
        />
        <TextField
          label="Password"
          hint={length === undefined ? undefined : `${length.min} to ${length.max} characters.`}
          type="password"
          required
          minLength={length?.min}
          maxLength={length?.max}
          autoComplete="new-password"
          value={password}
          onChange={setPassword}
        />
        {config.data?.registration === 'invite' && (
          <TextField
            label="Invitation"
            hint="Copy it from the message you received."
            required
            value={invitation}
            onChange={setInvitation}
          />
        )}
        {error !== undefined &&
          (isUnknown(error) ? (
            <div className="note error" role="alert">
              <p>
                There is already an account with this e-mail address. <Link href="/sign-in">Sign in</Link>, or{' '}
                <Link href="/forgot">reset the password</Link>.
              </p>
            </div>
          ) : (
            <ErrorNote error={error} />
          ))}
        <Button kind="primary" type="submit" busy={busy}>
          Create account
        </Button>
      </form>
      <p>
        Already registered? <Link href="/sign-in">Sign in</Link>
      </p>
    </Outside>
  );
}
