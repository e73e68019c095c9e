import { BookOpen, ChevronDown, Lock, LogOut, Menu, Search } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { titled } from './format.ts';
import { useLiveHints } from './live.ts';
import { homeOf, maySee, menuOf } from './navigation.ts';
import { Palette, Shortcuts } from './palette.tsx';
import { usePreferences } from './preferences.ts';
import { ROLE_NAMES } from './roles.ts';
import { useAccount, useAccounts, useSignOut } from './session.tsx';
import { Button } from './ui/button.tsx';
import { Icon } from './ui/icon.tsx';
import { Page } from './ui/page.tsx';
import { Empty } from './ui/states.tsx';
import { Toasts, toastError } from './ui/toasts.tsx';

/** What stands around every page: the menu, the palette, and who is signed in. */
export function Shell({ children }: { children: ReactNode }) {
  const [location, navigate] = useLocation();
  const account = useAccount();
  const isShutOut =
    (account.secondFactorRequired && !account.secondFactor) || account.requiredDomain !== null;
  const role = isShutOut ? 'none' : account.role;
  useLiveHints(role !== 'none');
  // What the page would ask for is refused.
  const isElsewhere = isShutOut ? location !== '/settings' : location === '/' && homeOf(role) !== '/';
  useEffect(() => {
    if (isElsewhere) navigate(homeOf(role), { replace: true });
  }, [navigate, role, isElsewhere]);
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
        <Button
          className="menu-button ghost"
          icon={Menu}
          aria-expanded={menuIsOpen}
          onClick={() => setMenuOpen(!menuIsOpen)}
        >
          <span className="unseen">Menu</span>
        </Button>
        <Link href="/" className="brand">
          <img src="/dashboard/icon.svg" alt="" width="24" height="24" /> Platen
        </Link>
        <Button className="palette-button" icon={Search} onClick={() => setOpen('palette')}>
          <span className="words">Go to …</span> <kbd>Ctrl K</kbd>
        </Button>
        <Who />
      </header>
      <nav className={menuIsOpen ? 'side open' : 'side'} aria-label="Pages of the dashboard">
        {menuOf(role).map(({ group, pages }) => (
          <div key={group}>
            <p className="group">{group}</p>
            <ul>
              {pages.map(([path, title, icon]) => (
                <li key={path}>
                  <Link href={path} aria-current={isCurrent(location, path) ? 'page' : undefined}>
                    <Icon of={icon} />
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <a href="/docs" target="_blank" rel="noreferrer">
          <Icon of={BookOpen} />
          Documentation
        </a>
      </nav>
      <main id="main">{isElsewhere ? null : maySee(role, location) ? children : <NotForRole />}</main>
      <Palette open={open === 'palette'} onClose={() => setOpen(undefined)} />
      <Shortcuts open={open === 'shortcuts'} onClose={() => setOpen(undefined)} />
      <Toasts />
    </div>
  );
}

/** In place of a page whose data the service refuses to whoever has this role. */
function NotForRole() {
  const { role } = useAccount();
  return (
    <Page title="Not for your role">
      <Empty title={`Your role is ${ROLE_NAMES[role]}`} icon={Lock}>
        <p>It does not include this page. The owner of the account can change it, under Members.</p>
      </Empty>
    </Page>
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
      <summary>
        <span className="avatar" aria-hidden="true">
          {account.name.charAt(0).toUpperCase()}
        </span>
        <span className="words">{account.name}</span>
        <Icon of={ChevronDown} />
      </summary>
      <div className="menu">
        <p className="whole">
          <bdi>{account.name}</bdi>
        </p>
        {account.email !== null && <p className="whole quiet">{account.email}</p>}
        <Accounts />
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
        <Button icon={LogOut} onClick={() => void signOut()}>
          Sign out
        </Button>
      </div>
    </details>
  );
}

/** The accounts of the person, where there are several, to act for another one. */
function Accounts() {
  const { accounts, switchTo } = useAccounts();
  if (accounts.length < 2) return null;
  return (
    <ul className="accounts" aria-label="Accounts">
      {accounts.map(({ id, name, ownerEmail, role, current }) => (
        <li key={id}>
          <Button
            kind="plain"
            aria-current={current ? 'true' : undefined}
            onClick={() => current || switchTo(id).catch(toastError)}
          >
            <bdi className="whole">{name}</bdi> <span className="quiet">{ROLE_NAMES[role]}</span>
            <br />
            <bdi className="whole quiet">{ownerEmail ?? id}</bdi>
          </Button>
        </li>
      ))}
    </ul>
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
