import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
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
        Skip to the page
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
        <a href="/docs">Documentation</a>
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
  return (
    <details className="who">
      <summary>{account.email ?? 'This account'}</summary>
      <div className="menu">
        {account.email !== null && <p className="whole">{account.email}</p>}
        <p className="quiet">Plan: {account.plan}</p>
        <label>
          Colours{' '}
          <select
            value={theme}
            onChange={({ target }) => setPreferences({ theme: target.value as typeof theme })}
          >
            <option value="system">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
        <label>
          Density{' '}
          <select
            value={density}
            onChange={({ target }) => setPreferences({ density: target.value as typeof density })}
          >
            <option value="comfortable">comfortable</option>
            <option value="compact">compact</option>
          </select>
        </label>
        <Button onClick={() => void signOut()}>Sign out</Button>
      </div>
    </details>
  );
}

function isCurrent(location: string, path: string): boolean {
  return path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
}
