import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError, api, call, onSignedOut } from './api.ts';
import { forgetDrafts } from './drafts.ts';
import { mayDevelop } from './roles.ts';
import { SignInForm } from './sign-in-form.tsx';
import { Dialog } from './ui/dialog.tsx';
import { ErrorNote, Loading } from './ui/states.tsx';

type Account = Awaited<ReturnType<typeof fetchAccount>>;

const AccountContext = createContext<Account | undefined>(undefined);
/** Tells the other tabs of this browser. */
const tabs = new BroadcastChannel('platen-session');
const SIGNED_OUT = 'signed out';
const SWITCHED = 'switched';

/** The account that is signed in. Only within `RequireSession`. */
export function useAccount(): Account {
  const account = useContext(AccountContext);
  if (account === undefined) throw new Error('This page needs an account.');
  return account;
}

/**
 * Shows the pages to whoever is signed in, and leads others to where one signs in. A session that ends while a page is open
 * asks for the password above the page, which stays as it is with all that was typed.
 */
export function RequireSession({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const [location, navigate] = useLocation();
  const [ended, setEnded] = useState(false);
  const account = useQuery({ queryKey: ['account'], queryFn: fetchAccount, retry: retryUnlessRefused });
  useEffect(() => onSignedOut(() => setEnded(true)), []);
  useEffect(() => {
    const leave = ({ data }: MessageEvent) => {
      if (data === SWITCHED) window.location.reload();
      if (data !== SIGNED_OUT) return;
      forgetDrafts();
      queries.clear();
      navigate('/sign-in');
    };
    tabs.addEventListener('message', leave);
    return () => tabs.removeEventListener('message', leave);
  }, [queries, navigate]);
  const accountId = account.data?.id;
  useEffect(() => {
    if (accountId !== undefined) forgetDrafts(accountId);
  }, [accountId]);
  const isStranger = account.data === undefined && isSignedOut(account.error);
  useEffect(() => {
    if (isStranger)
      navigate(
        // What is behind the # is sent to no server, and comes back by the same way.
        `/sign-in?returnTo=${encodeURIComponent(location + window.location.search)}${window.location.hash}`,
        { replace: true },
      );
  }, [isStranger, navigate, location]);
  if (isStranger) return null;
  if (account.error !== null && account.data === undefined)
    return <ErrorNote error={account.error} retry={account.refetch} />;
  if (account.data === undefined) return <Loading shape="page" />;
  return (
    <AccountContext value={account.data}>
      {children}
      <Dialog title="Your session has ended" open={ended} onClose={() => setEnded(false)}>
        <p>Sign in again to continue. This page stays as it is.</p>
        <SignInForm
          email={account.data.email ?? ''}
          onSignedIn={() => {
            setEnded(false);
            void queries.invalidateQueries();
          }}
        />
      </Dialog>
    </AccountContext>
  );
}

/** Whether whoever is signed in may make and change documents, templates, keys and webhooks. */
export function useMayDevelop(): boolean {
  return mayDevelop(useAccount().role);
}

/** Ends the session here and in the other tabs. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return async () => {
    await call(api.DELETE('/auth/session'));
    tabs.postMessage(SIGNED_OUT);
    forgetDrafts();
    queries.clear();
    navigate('/sign-in');
  };
}

/** The accounts that the person may act for, and what makes this browser act for another one, in all its tabs. */
export function useAccounts() {
  const { id } = useAccount();
  const accounts = useQuery({ queryKey: ['accounts', id], queryFn: () => call(api.GET('/auth/accounts')) });
  return {
    accounts: accounts.data?.accounts ?? [],
    async switchTo(accountId: string): Promise<void> {
      await call(api.PATCH('/auth/session', { body: { accountId } }));
      tabs.postMessage(SWITCHED);
      // Nothing of the other account may stay in the page.
      window.location.assign('/dashboard/');
    },
  };
}

export function retryUnlessRefused(failures: number, error: unknown): boolean {
  return failures < 3 && !(error instanceof ApiError && error.status < 500);
}

function fetchAccount() {
  return call(api.GET('/auth/me'));
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
