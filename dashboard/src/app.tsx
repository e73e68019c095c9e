import { type ComponentType, lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { RequireSession } from './session.tsx';
import { Shell } from './shell.tsx';
import { Page } from './ui/page.tsx';
import { Loading } from './ui/states.tsx';

const page = (load: () => Promise<{ default: ComponentType }>) => lazy(load);

/** Each page is loaded when it is gone to. */
const PAGES: readonly (readonly [path: string, page: ComponentType])[] = [
  ['/', page(() => import('./pages/overview.tsx'))],
  ['/playground', page(() => import('./pages/playground.tsx'))],
  ['/renders', page(() => import('./pages/renders.tsx'))],
  ['/renders/:id', page(() => import('./pages/render.tsx'))],
  ['/batches', page(() => import('./pages/batches.tsx'))],
  ['/batches/:id', page(() => import('./pages/batch.tsx'))],
  ['/templates', page(() => import('./pages/templates.tsx'))],
  ['/templates/:id', page(() => import('./pages/template.tsx'))],
  ['/webhooks', page(() => import('./pages/webhooks.tsx'))],
  ['/keys', page(() => import('./pages/keys.tsx'))],
  ['/logs', page(() => import('./pages/logs.tsx'))],
  ['/audit', page(() => import('./pages/audit.tsx'))],
  ['/billing', page(() => import('./pages/billing.tsx'))],
  ['/settings', page(() => import('./pages/settings.tsx'))],
];

const SignIn = page(() => import('./pages/sign-in.tsx'));
const Register = page(() => import('./pages/register.tsx'));
const Forgot = page(() => import('./pages/forgot.tsx'));
const Reset = page(() => import('./pages/reset.tsx'));
const Verify = page(() => import('./pages/verify.tsx'));

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
                  {PAGES.map(([path, component]) => (
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
