import { type ComponentType, useEffect, useState } from 'react';
import { Page } from './page.tsx';
import { ErrorNote, Loading } from './states.tsx';

export type Load = () => Promise<{ default: ComponentType }>;

const loaded = new Map<Load, ComponentType>();
/** Between two reloads of the page because a part of it was missing, in milliseconds. */
const RELOADS_APART_MS = 60_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** Begins to load a page; whoever shows it meets the same error. */
export async function loadPage(load: Load): Promise<ComponentType> {
  const page = (await load()).default;
  loaded.set(load, page);
  return page;
}

/**
 * A page whose script is loaded when it is gone to. Without a connection it says so, and the tab stays and tries again, less and less often; once there is one
 * again, the tab is reloaded, because browsers keep that a script could not be loaded. After an upgrade, too, the script comes
 * with a reload: once, not for ever.
 */
export function LoadedPage({ load }: { load: Load }) {
  const [page, setPage] = useState(() => loaded.get(load));
  const [error, setError] = useState<unknown>();
  const [tries, setTries] = useState(0);
  const again = () => setTries((count) => count + 1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each try loads it again
  useEffect(() => {
    if (page !== undefined) return;
    let isGone = false;
    loadPage(load).then(
      (found) => {
        if (!isGone) setPage(() => found);
      },
      async (failed) => {
        if ((await isUpgraded()) && mayReload()) window.location.reload();
        else if (!isGone) setError(failed);
      },
    );
    return () => {
      isGone = true;
    };
  }, [load, page, tries]);
  useEffect(() => {
    if (error === undefined) return;
    const next = () => setTries((count) => count + 1);
    // Not every browser notices that there is a connection again. A tab that nobody sees tries once it is seen.
    const timer = setTimeout(() => document.visibilityState === 'visible' && next(), pauseMs(tries));
    const onSeen = () => document.visibilityState === 'visible' && next();
    window.addEventListener('online', next);
    document.addEventListener('visibilitychange', onSeen);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('online', next);
      document.removeEventListener('visibilitychange', onSeen);
    };
  }, [error, tries]);
  if (page !== undefined) {
    const Shown = page;
    return <Shown />;
  }
  if (error === undefined) return <Loading shape="page" />;
  return (
    <Page title="This page could not be loaded">
      <ErrorNote
        error={new Error('The service cannot be reached. Check your connection, then try again.')}
        retry={again}
      />
    </Page>
  );
}

/** Before the next try, in milliseconds: longer each time. */
function pauseMs(tries: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10));
}

/** Whether the service answers, so that it is the script alone that is missing. */
async function isUpgraded(): Promise<boolean> {
  try {
    return (await fetch('/dashboard/', { method: 'HEAD', cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}

function mayReload(): boolean {
  const before = Number(sessionStorage.getItem('platen-reloaded') ?? 0);
  if (Date.now() - before < RELOADS_APART_MS) return false;
  sessionStorage.setItem('platen-reloaded', String(Date.now()));
  return true;
}
