import { type ReactNode, useEffect } from 'react';

/** A page for whoever is not signed in. */
export function Outside({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} – Platen`;
  }, [title]);
  return (
    <main className="outside">
      <p className="brand">
        <img src="/dashboard/icon.svg" alt="" width="32" height="32" /> Platen
      </p>
      <h1>{title}</h1>
      {children}
    </main>
  );
}

/** A secret that an address carries behind its #, which no server is sent. */
export function secretInAddress(name: string): string | undefined {
  return new URLSearchParams(window.location.hash.slice(1)).get(name) ?? undefined;
}

/** Takes it out of the address and of the history. */
export function forgetSecret(): void {
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
}
