import { useEffect, useRef } from 'react';

/** Has Ctrl (or ⌘) with a key do what the page is for, wherever the focus is but in a dialog. */
export function useCtrlKey(key: 'Enter' | 's', onPress: () => void): void {
  const press = useRef(onPress);
  press.current = onPress;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== key || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      if (document.querySelector('dialog[open]') !== null) return;
      // The browser would save the page.
      event.preventDefault();
      press.current();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [key]);
}
