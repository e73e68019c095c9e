import { useSyncExternalStore } from 'react';
import { sentence } from '../api.ts';

const SHOWN_MS = 6000;
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}
let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

/** Says for some seconds what has been done. */
export function toast(text: string, bad = false): void {
  last += 1;
  const id = last;
  change([...toasts.slice(-3), { id, text, bad }]);
  setTimeout(() => change(toasts.filter((each) => each.id !== id)), SHOWN_MS);
}

/** Says that something did not work, and why. */
export function toastError(error: unknown): void {
  toast(sentence(error), true);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, text, bad }) => (
        <p key={id} className={bad ? 'toast bad' : 'toast'}>
          {text}
        </p>
      ))}
    </div>
  );
}

function change(to: readonly Toast[]): void {
  toasts = to;
  for (const listener of listeners) listener();
}
