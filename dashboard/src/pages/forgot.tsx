import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { TextField } from '../ui/field.tsx';
import { SubmitForm } from '../ui/submit-form.tsx';
import { Outside } from './outside.tsx';

export default function Forgot() {
  const [email, setEmail] = useState('');
  const ask = useMutation({ mutationFn: () => call(api.POST('/auth/forgot', { body: { email } })) });
  return (
    <Outside title="Reset your password">
      {ask.isSuccess ? (
        <p role="status">If there is an account with this address, we have sent it an e-mail with a link.</p>
      ) : (
        <SubmitForm sends={ask} button="Send the link">
          <TextField
            label="E-mail address"
            hint="We send a link for choosing a new password there."
            type="email"
            required
            autoComplete="username"
            value={email}
            onChange={setEmail}
          />
        </SubmitForm>
      )}
      <Link href="/sign-in">Back to sign in</Link>
    </Outside>
  );
}
