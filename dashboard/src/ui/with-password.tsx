import { useState } from 'react';
import { ApiError } from '../api.ts';
import { useAccount } from '../session.tsx';
import { SignInForm } from '../sign-in-form.tsx';
import { Dialog } from './dialog.tsx';
import { toastError } from './toasts.tsx';

/**
 * Runs what shows a secret. The service asks for the password again when it was given more than some minutes ago: then a
 * dialog does, and what was wanted follows.
 *
 * @returns what runs it, which rejects with any other error, and the dialog to be put on the page.
 */
export function useWithPassword(): [
  run: (act: () => Promise<void>) => Promise<void>,
  dialog: React.ReactNode,
] {
  const account = useAccount();
  const [wanted, setWanted] = useState<{ act: () => Promise<void> }>();
  const run = async (act: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'PASSWORD_REQUIRED')) throw error;
      setWanted({ act });
    }
  };
  const dialog = (
    <Dialog title="Confirm it is you" open={wanted !== undefined} onClose={() => setWanted(undefined)}>
      <p>
        The next step shows a secret. Sign in again, so that nobody else can get it from a browser you left
        open.
      </p>
      <SignInForm
        email={account.email ?? ''}
        onSignedIn={() => {
          setWanted(undefined);
          if (wanted !== undefined) run(wanted.act).catch(toastError);
        }}
      />
    </Dialog>
  );
  return [run, dialog];
}
