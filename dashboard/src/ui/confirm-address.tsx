import { useMutation } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { toast, toastError } from './toasts.tsx';

/** Has the link sent that confirms the address of the account. */
export function ConfirmAddress() {
  const confirm = useMutation({
    mutationFn: () => call(api.POST('/auth/email/verification')),
    onSuccess: () => toast('A mail with a link is on its way. Open it in this browser.'),
    onError: toastError,
  });
  return (
    <Button busy={confirm.isPending} onClick={() => confirm.mutate()}>
      Confirm the address by mail
    </Button>
  );
}

/** Why there are no live keys and no live renders yet, where that is so, and what changes it. */
export function ConfirmationNeeded() {
  const { confirmationNeeded, email } = useAccount();
  if (!confirmationNeeded) return null;
  return (
    <div className="note">
      <p>
        Live keys and live renders begin once you have confirmed that mail to <bdi>{email}</bdi> reaches you.
        Until then test keys and test renders are there.
      </p>
      <ConfirmAddress />
    </div>
  );
}
