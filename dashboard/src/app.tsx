import { type ComponentType, lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { RequireSession } from './session.tsx';
import { Shell } from './shell.tsx';
import { Page } from './ui/page.tsx';
import { Loading } from './ui/states.tsx';

type Load = () => Promise<{ default: ComponentType }>;

/** Each page is loaded when it is gone to. */
const PAGES: readonly (readonly [path: string, load: Load])[] = [
  ['/', () => import('./pages/overview.tsx')],
  ['/playground', () => import('./pages/playground.tsx')],
  ['/renders', () => import('./pages/renders.tsx')],
  ['/renders/:id', () => import('./pages/render.tsx')],
  ['/batches', () => import('./pages/batches.tsx')],
  ['/batches/:id', () => import('./pages/batch.tsx')],
  ['/templates', () => import('./pages/templates.tsx')],
  ['/templates/:id', () => import('./pages/template.tsx')],
  ['/webhooks', () => import('./pages/webhooks.tsx')],
  ['/keys', () => import('./pages/keys.tsx')],
  ['/logs', () => import('./pages/logs.tsx')],
  ['/audit', () => import('./pages/audit.tsx')],
  ['/billing', () => import('./pages/billing.tsx')],
  ['/settings', () => import('./pages/settings.tsx')],
];

const ROUTES = PAGES.map(([path, load]) => [path, lazy(load)] as const);

/** Begins to load the page at an address, as `/dashboard/renders`, whose session is asked for meanwhile. */
export function preload(address: string): void {
  const path = address.replace(/^\/dashboard/, '').replace(/(?<=.)\/$/, '') || '/';
  const [, load] =
    PAGES.find(([pattern]) => new RegExp(`^${pattern.replace(':id', '[^/]+')}$`).test(path)) ?? [];
  // Whoever renders it meets the same error.
  load?.().catch(() => undefined);
}

const SignIn = lazy(() => import('./pages/sign-in.tsx'));
const Register = lazy(() => import('./pages/register.tsx'));
const Forgot = lazy(() => import('./pages/forgot.tsx'));
const Reset = lazy(() => import('./pages/reset.tsx'));
const Verify = lazy(() => import('./pages/verify.tsx'));

export function App() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route path="/sign-in" component={SignIn} />
        <Route path="/register" component={Register} />
        <Route path="/forgot" component={Forgot} />
        <Route path="/reset-password" component={Reset} />
        <Route path="/verify-email" component={Verify} />
        <Route>
          <RequireSession>
            <Shell>
              <Suspense fallback={<Loading />}>
                <Switch>
                  {ROUTES.map(([path, component]) => (
                    <Route key={path} path={path} component={component} />
                  ))}
                  <Route>
                    <Page title="There is no such page">
                      <p>
                        The address may be misspelt, or from another version. The menu has all pages there
                        are.
                      </p>
                    </Page>
                  </Route>
                </Switch>
              </Suspense>
            </Shell>
          </RequireSession>
        </Route>
      </Switch>
    </Suspense>
  );
}
