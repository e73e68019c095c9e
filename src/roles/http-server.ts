import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpsApp } from '../http/ops-app.ts';
import type { Component } from './component.ts';
import type { Core } from './core.ts';
import type { HealthChecks } from './health.ts';

export interface ListeningComponent extends Component {
  readonly port: number;
}

/** Only /healthz, /readyz and /metrics: for the roles that answer no callers. */
export async function startOpsServer(core: Core, checks: HealthChecks): Promise<ListeningComponent> {
  const app = createOpsApp({ metrics: core.metrics, logger: core.logger, ...checks });
  const { server, port } = await listen(app, core.config);
  return {
    port,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
    problems: () => [],
    stuck: () => undefined,
  };
}

/** Listens where the configuration says. @throws when the port is taken. */
export async function listen(
  app: RequestListener,
  { PORT, PLATEN_HOST }: { readonly PORT: number; readonly PLATEN_HOST: string },
  options: ServerOptions = {},
): Promise<{ server: Server; port: number }> {
  const server = createServer(options, app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(PORT, PLATEN_HOST, () => resolve());
  });
  return { server, port: (server.address() as AddressInfo).port };
}
