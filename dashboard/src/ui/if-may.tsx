import type { ReactNode } from 'react';
import { maySee } from '../navigation.ts';
import { useAccount, useMayDevelop } from '../session.tsx';

/** What leads to a page, for whoever has a use for it. */
export function IfMaySee({ page, children }: { page: string; children: ReactNode }) {
  return maySee(useAccount().role, page) ? children : null;
}

/** What makes or changes documents, templates, keys and webhooks, for whoever may. */
export function IfMayDevelop({ children }: { children: ReactNode }) {
  return useMayDevelop() ? children : null;
}
