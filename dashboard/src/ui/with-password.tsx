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
 * @returns what runs it, and the dialog to be put on the page.
 */
export function useWithPassword(): [run: (act: () => Promise<void>) => void, dialog: React.ReactNode] {
  const account = useAccount();
  const [wanted, setWanted] = useState<{ act: () => Promise<void> }>();
  const run = (act: () => Promise<void>) => {
    act().catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'PASSWORD_REQUIRED') setWanted({ act });
      else toastError(error);
    });
  };
  const dialog = (
    <Dialog title="Sign in once more" open={wanted !== undefined} onClose={() => setWanted(undefined)}>
      <p>
        A secret is shown next. So that nobody else gets it from a browser that was left open, sign in once
        more.
      </p>
      <SignInForm
        email={account.email ?? ''}
        onSignedIn={() => {
          setWanted(undefined);
          if (wanted !== undefined) run(wanted.act);
        }}
      />
    </Dialog>
  );
  return [run, dialog];
}
