import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { Outside } from './outside.tsx';

export default function Forgot() {
  const [email, setEmail] = useState('');
  const ask = useMutation({ mutationFn: () => call(api.POST('/auth/forgot', { body: { email } })) });
  return (
    <Outside title="Reset your password">
      {ask.isSuccess ? (
        <p role="status">If there is an account with this address, we have sent it an e-mail with a link.</p>
      ) : (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            ask.mutate();
          }}
        >
          <TextField
            label="E-mail address"
            hint="We send a link for choosing a new password there."
            type="email"
            required
            autoComplete="username"
            value={email}
            onChange={setEmail}
          />
          {ask.error !== null && <ErrorNote error={ask.error} />}
          <Button kind="primary" type="submit" busy={ask.isPending}>
            Send the link
          </Button>
        </form>
      )}
      <Link href="/sign-in">Back to sign in</Link>
    </Outside>
  );
}
