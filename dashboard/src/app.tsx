import { Route, Switch, useLocation } from 'wouter';
import { RequireSession } from './session.tsx';
import { Shell } from './shell.tsx';
import { Boundary } from './ui/boundary.tsx';
import { type Load, LoadedPage, loadPage } from './ui/loaded-page.tsx';
import { Page } from './ui/page.tsx';

/** Each page is loaded when it is gone to. */
const PAGES: readonly (readonly [path: string, load: Load])[] = [
  ['/', () => import('./pages/overview.tsx')],
  ['/playground', () => import('./pages/playground.tsx')],
  ['/renders', () => import('./pages/renders.tsx')],
  ['/renders/:id', () => import('./pages/render.tsx')],
  ['/compare', () => import('./pages/compare.tsx')],
  ['/batches', () => import('./pages/batches.tsx')],
  ['/batches/new', () => import('./pages/new-batch.tsx')],
  ['/batches/:id', () => import('./pages/batch.tsx')],
  ['/templates', () => import('./pages/templates.tsx')],
  ['/templates/:id', () => import('./pages/template.tsx')],
  ['/webhooks', () => import('./pages/webhooks.tsx')],
  ['/keys', () => import('./pages/keys.tsx')],
  ['/logs', () => import('./pages/logs.tsx')],
  ['/members', () => import('./pages/members.tsx')],
  ['/audit', () => import('./pages/audit.tsx')],
  ['/billing', () => import('./pages/billing.tsx')],
  ['/settings', () => import('./pages/settings.tsx')],
  // For whoever changes the pages; no menu leads there.
  ['/design', () => import('./pages/design.tsx')],
];

/** For whoever is not signed in. */
const OUTSIDE: typeof PAGES = [
  ['/sign-in', () => import('./pages/sign-in.tsx')],
  ['/register', () => import('./pages/register.tsx')],
  ['/forgot', () => import('./pages/forgot.tsx')],
  ['/reset-password', () => import('./pages/reset.tsx')],
  ['/accept-invitation', () => import('./pages/accept.tsx')],
  ['/verify-email', () => import('./pages/verify.tsx')],
];

/** Begins to load the page at an address, as `/dashboard/renders`, whose session is asked for meanwhile. */
export function preload(address: string): void {
  const path = address.replace(/^\/dashboard/, '').replace(/(?<=.)\/$/, '') || '/';
  const [, load] =
    PAGES.find(([pattern]) => new RegExp(`^${pattern.replace(':id', '[^/]+')}$`).test(path)) ?? [];
  // Whoever renders it meets the same error.
  if (load !== undefined) loadPage(load).catch(() => undefined);
}

export function App() {
  const [location] = useLocation();
  return (
    <Boundary place={location}>
      <Switch>
        {routesOf(OUTSIDE)}
        <Route>
          <RequireSession>
            <Shell>
              <Boundary place={location}>
                <Switch>
                  {routesOf(PAGES)}
                  <Route>
                    <Page title="Page not found">
                      <p>Check the address, or pick a page from the menu.</p>
                    </Page>
                  </Route>
                </Switch>
              </Boundary>
            </Shell>
          </RequireSession>
        </Route>
      </Switch>
    </Boundary>
  );
}

function routesOf(pages: typeof PAGES) {
  return pages.map(([path, load]) => (
    <Route key={path} path={path}>
      <LoadedPage key={path} load={load} />
    </Route>
  ));
}
