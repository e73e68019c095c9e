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
    <Outside title="Forgotten password">
      {ask.isSuccess ? (
        <p role="status">If there is an account with this address, a mail with a link is on its way to it.</p>
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
            hint="A link to choose a new password is sent there."
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
