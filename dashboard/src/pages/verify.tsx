import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { forgetSecret, Outside, secretInAddress } from './outside.tsx';

/** Confirmed by a press, because programs that look through mail open links as well. */
export default function Verify() {
  const [token] = useState(() => secretInAddress('token') ?? '');
  const verify = useMutation({
    mutationFn: () => call(api.POST('/auth/email/verify', { body: { token } })),
    onSuccess: forgetSecret,
  });
  return (
    <Outside title="Confirm your e-mail address">
      {verify.isSuccess ? (
        <p role="status">The address is confirmed.</p>
      ) : (
        <Button
          kind="primary"
          busy={verify.isPending}
          disabled={token === ''}
          onClick={() => verify.mutate()}
        >
          This address is mine
        </Button>
      )}
      {token === '' && <p role="alert">The link is not whole: open it from the mail.</p>}
      {verify.error !== null && <ErrorNote error={verify.error} />}
      <Link href="/">To the dashboard</Link>
    </Outside>
  );
}
