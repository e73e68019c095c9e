import { useEffect, useRef } from 'react';

/**
 * Calls `act` once a text has not changed for a while; not again for the same text, nor for the one that was there first.
 *
 * @param restsMs after the last change, in milliseconds.
 * @param isOn while it is off nothing is called; what has changed meanwhile counts when it is on again.
 */
export function useWhenRests(restsMs: number, isOn: boolean, text: string, act: () => void): void {
  const done = useRef(text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever it does by then
  useEffect(() => {
    if (!isOn || done.current === text) return;
    const timer = setTimeout(() => {
      done.current = text;
      act();
    }, restsMs);
    return () => clearTimeout(timer);
  }, [restsMs, isOn, text]);
}
