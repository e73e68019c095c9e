import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { titled } from './format.ts';
import { useLiveHints } from './live.ts';
import { MENU } from './navigation.ts';
import { Palette, Shortcuts } from './palette.tsx';
import { usePreferences } from './preferences.ts';
import { useAccount, useSignOut } from './session.tsx';
import { Button } from './ui/button.tsx';
import { Toasts } from './ui/toasts.tsx';

/** What stands around every page: the menu, the palette, and who is signed in. */
export function Shell({ children }: { children: ReactNode }) {
  useLiveHints();
  const [location] = useLocation();
  const [open, setOpen] = useState<'palette' | 'shortcuts'>();
  const [menuIsOpen, setMenuOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing =
        event.target instanceof HTMLElement && event.target.matches('input, textarea, select, code-editor');
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setOpen('palette');
      } else if (event.key === '?' && !typing) setOpen('shortcuts');
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: going to a page closes the menu
  useEffect(() => setMenuOpen(false), [location]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="top">
        <Link href="/" className="brand">
          <img src="/dashboard/icon.svg" alt="" width="24" height="24" /> Platen
        </Link>
        <Button className="menu-button" aria-expanded={menuIsOpen} onClick={() => setMenuOpen(!menuIsOpen)}>
          Menu
        </Button>
        <Button className="palette-button" onClick={() => setOpen('palette')}>
          Go to … <kbd>Ctrl K</kbd>
        </Button>
        <Who />
      </header>
      <nav className={menuIsOpen ? 'side open' : 'side'} aria-label="Pages of the dashboard">
        {MENU.map(({ group, pages }) => (
          <div key={group}>
            <p className="group">{group}</p>
            <ul>
              {pages.map(([path, title]) => (
                <li key={path}>
                  <Link href={path} aria-current={isCurrent(location, path) ? 'page' : undefined}>
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <a href="/docs" target="_blank" rel="noreferrer">
          Documentation
        </a>
      </nav>
      <main id="main">{children}</main>
      <Palette open={open === 'palette'} onClose={() => setOpen(undefined)} />
      <Shortcuts open={open === 'shortcuts'} onClose={() => setOpen(undefined)} />
      <Toasts />
    </div>
  );
}

function Who() {
  const account = useAccount();
  const signOut = useSignOut();
  const [{ theme, density }, setPreferences] = usePreferences();
  const menu = useRef<HTMLDetailsElement>(null);
  useClosing(menu);
  return (
    <details className="who" ref={menu}>
      <summary>{account.email ?? 'This account'}</summary>
      <div className="menu">
        {account.email !== null && <p className="whole">{account.email}</p>}
        <p className="quiet">Plan: {titled(account.plan)}</p>
        <p className="quiet">Times are in {Intl.DateTimeFormat().resolvedOptions().timeZone}</p>
        <label>
          Theme{' '}
          <select
            value={theme}
            onChange={({ target }) => setPreferences({ theme: target.value as typeof theme })}
          >
            <option value="system">System</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <label>
          Density{' '}
          <select
            value={density}
            onChange={({ target }) => setPreferences({ density: target.value as typeof density })}
          >
            <option value="comfortable">Comfortable</option>
            <option value="compact">Compact</option>
          </select>
        </label>
        <Button onClick={() => void signOut()}>Sign out</Button>
      </div>
    </details>
  );
}

/** Closes a menu as menus are: by a press elsewhere, by Escape, when the focus leaves it, and when another page is gone to. */
function useClosing(menu: RefObject<HTMLDetailsElement | null>): void {
  const [location] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: going to a page closes the menu
  useEffect(() => menu.current?.removeAttribute('open'), [location, menu]);
  useEffect(() => {
    const close = () => menu.current?.removeAttribute('open');
    const isOutside = ({ target }: Event) => !menu.current?.contains(target as Node);
    const onPress = (event: Event) => isOutside(event) && close();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || menu.current?.open !== true) return;
      close();
      menu.current.querySelector('summary')?.focus();
    };
    document.addEventListener('pointerdown', onPress);
    document.addEventListener('focusin', onPress);
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('pointerdown', onPress);
      document.removeEventListener('focusin', onPress);
      document.removeEventListener('keydown', onKey);
    };
  }, [menu]);
}

function isCurrent(location: string, path: string): boolean {
  return path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
}
