import { useEffect, useRef } from 'react';

/** After the last change, in milliseconds. */
const RESTS_MS = 600;

/**
 * Calls `act` once a text has not changed for a while; not again for the same text.
 *
 * @param isOn while it is off nothing is called; what has changed meanwhile counts when it is on again.
 */
export function useWhenRests(isOn: boolean, text: string, act: () => void): void {
  const done = useRef<string>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever it does by then
  useEffect(() => {
    if (!isOn || done.current === text) return;
    const timer = setTimeout(() => {
      done.current = text;
      act();
    }, RESTS_MS);
    return () => clearTimeout(timer);
  }, [isOn, text]);
}
