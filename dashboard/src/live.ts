import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

/** Query keys that begin with this are asked again whenever something has happened to the account's jobs. */
export const LIVE = 'live';

/**
 * Keeps one stream of hints open while the tab is visible. Browsers allow six connections to a service, which all tabs
 * share: a hidden tab has none, and looks once when it is seen again.
 *
 * @param isOpen whether the person may see the account; nothing is followed otherwise.
 */
export function useLiveHints(isOpen: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isOpen) return;
    let stream: EventSource | undefined;
    const refresh = () => void queries.invalidateQueries({ queryKey: [LIVE] });
    const follow = () => {
      if (document.visibilityState === 'hidden') {
        stream?.close();
        stream = undefined;
        return;
      }
      if (stream !== undefined) return;
      stream = new EventSource('/user/events');
      stream.addEventListener('progress', refresh);
      stream.addEventListener('end', () => {
        stream?.close();
        void queries.invalidateQueries();
      });
      refresh();
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      stream?.close();
    };
  }, [queries, isOpen]);
}
