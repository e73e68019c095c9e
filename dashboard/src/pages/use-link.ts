import { useEffect, useState } from 'react';
import type { Experiment } from './experiment.ts';
import { experimentIn, isLink, type Linked, linkOf } from './experiment-link.ts';

/** After the last key, in milliseconds. */
const WRITTEN_AFTER_MS = 600;

/** In the history of the tab: the address was written here, and is no link that somebody has sent. */
const OWN = { platenOwn: true };

/** The experiment in the link by which the page was opened; `pending` until it is read. */
export function useOpenedLink(): Experiment | 'pending' | undefined {
  const [opened, setOpened] = useState<Experiment | 'pending' | undefined>(() =>
    isForeign() ? 'pending' : undefined,
  );
  useEffect(() => {
    const read = async () => {
      if (!isForeign()) return;
      setOpened('pending');
      setOpened(await experimentIn(window.location.hash));
    };
    void read();
    const onChange = () => void read();
    window.addEventListener('hashchange', onChange);
    return () => window.removeEventListener('hashchange', onChange);
  }, []);
  return opened;
}

/**
 * Keeps an experiment in the address of the page.
 *
 * @param experiment undefined for nothing to be kept.
 * @returns what is in the address now; undefined for nothing.
 */
export function useLink(experiment: Experiment | undefined): Linked | undefined {
  const [linked, setLinked] = useState<Linked>();
  const text = JSON.stringify(experiment);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is in it
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(async () => {
      const made = experiment === undefined ? undefined : await linkOf(experiment);
      if (isOver) return;
      const { pathname, search } = window.location;
      window.history.replaceState(OWN, '', pathname + search + (made?.fragment ?? ''));
      setLinked(made);
    }, WRITTEN_AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  return linked;
}

function isForeign(): boolean {
  return isLink(window.location.hash) && window.history.state?.platenOwn !== true;
}
