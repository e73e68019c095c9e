import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { forgetSecret, Outside, secretInAddress } from './outside.tsx';

export default function Reset() {
  const [token] = useState(() => secretInAddress('token') ?? '');
  const [password, setPassword] = useState('');
  const reset = useMutation({
    mutationFn: () => call(api.POST('/auth/reset', { body: { token, password } })),
    onSuccess: forgetSecret,
  });
  return (
    <Outside title="Choose a new password">
      {reset.isSuccess ? (
        <p role="status">Your password is changed. All sessions have been signed out.</p>
      ) : (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            reset.mutate();
          }}
        >
          {token === '' && (
            <p role="alert">The link is incomplete. Open it from the e-mail again, or ask for a new one.</p>
          )}
          <TextField
            label="New password"
            type="password"
            required
            autoComplete="new-password"
            value={password}
            onChange={setPassword}
          />
          {reset.error !== null && <ErrorNote error={reset.error} />}
          <Button kind="primary" type="submit" busy={reset.isPending} disabled={token === ''}>
            Change password
          </Button>
        </form>
      )}
      <Link href="/sign-in">Sign in</Link>
    </Outside>
  );
}
