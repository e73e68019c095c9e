import { useMutation } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { toast, toastError } from './toasts.tsx';

/** Has the link sent that confirms the address of the account. */
export function ConfirmAddress() {
  const confirm = useMutation({
    mutationFn: () => call(api.POST('/auth/email/verification')),
    onSuccess: () => toast('We have sent you an e-mail with a link. Open it in this browser.'),
    onError: toastError,
  });
  return (
    <Button busy={confirm.isPending} onClick={() => confirm.mutate()}>
      Send confirmation e-mail
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
        Confirm your e-mail address, <bdi>{email}</bdi>, to use live keys and live renders. Test keys and test
        renders work without it.
      </p>
      <ConfirmAddress />
    </div>
  );
}
