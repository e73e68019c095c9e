import { useSyncExternalStore } from 'react';

/** How the pages look on this device. Besides this, the browser keeps what was typed and not saved: see `drafts.ts`. */
interface Preferences {
  readonly theme: 'system' | 'light' | 'dark';
  readonly density: 'comfortable' | 'compact';
  /** What is shown of a document that is being typed. */
  readonly preview: 'both' | 'html' | 'pdf';
}

const KEY = 'platen-look';
const DEFAULT: Preferences = { theme: 'system', density: 'comfortable', preview: 'both' };
const listeners = new Set<() => void>();
let current = read();

export function usePreferences(): [Preferences, (change: Partial<Preferences>) => void] {
  const value = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
  return [value, setPreferences];
}

function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing shows them for as long as the page is open.
  }
  applyPreferences();
  for (const listener of listeners) listener();
}

/** Called before the first paint, so that nothing flashes. */
export function applyPreferences(): void {
  document.documentElement.dataset.theme = current.theme;
  document.documentElement.dataset.density = current.density;
}

function read(): Preferences {
  try {
    return { ...DEFAULT, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>) };
  } catch {
    return DEFAULT;
  }
}
