import type { Admin } from '../admin/open-admin.ts';
import type { Config } from '../config/config.ts';
import { Operators } from '../config/operators.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import type { ServedAdmin } from '../http/ops-app.ts';
import { PlatenError } from '../infra/errors/registry.ts';
import { ChangeGate } from '../infra/overload/change-gate.ts';
import type { Core } from './core.ts';
import type { Services } from './services.ts';

/** The administration of a process: its server is started first, and what it shows is opened with the API. */
export interface AdminServer extends ServedAdmin {
  open(core: Core, api: Pick<ApiDeps, 'renders' | 'admission'>, services: Services): Promise<void>;
}

/** A process without an administration does not load its code. */
export async function serveAdmin(tokens: NonNullable<Config['PLATEN_ADMIN_TOKEN']>): Promise<AdminServer> {
  const { adminRoutes } = await import('../http/admin/routes.ts');
  const { operatorAuthenticator } = await import('../http/admin/authenticate-operator.ts');
  let admin: Admin | undefined;
  let changes: Core['changes'] | undefined;
  return {
    routes: adminRoutes,
    authenticate: operatorAuthenticator(new Operators(tokens)),
    // Until it is open, every route is rejected.
    changes: new ChangeGate({ problem: () => changes?.problem(), flush: async () => changes?.flush() }),
    admin() {
      if (admin === undefined)
        throw new PlatenError('UNAVAILABLE', 'The process is starting.', { retryAfterSeconds: 1 });
      return admin;
    },
    async open(core, api, services) {
      const { openAdmin } = await import('../admin/open-admin.ts');
      changes = core.changes;
      admin = openAdmin(core, api, services);
    },
  };
}
