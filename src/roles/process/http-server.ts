import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Config, opsPortOf, type Role } from '../../config/config.ts';
import { createOpsApp, type ServedAdmin } from '../../http/ops-app.ts';
import type { HttpMetrics } from '../../http/request/http-metrics.ts';
import type { Offers } from '../../infra/outputs/offers/offers.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { ReadableMetrics } from '../../infra/telemetry/metrics.ts';
import type { Component } from './component.ts';
import type { HealthChecks } from './health-checks.ts';

export interface ListeningComponent extends Component {
  readonly port: number;
}

/** The parts of its process that a server of operations reads. */
interface OpsServerDeps {
  readonly role: Role;
  readonly config: Pick<Config, 'PORT' | 'PLATEN_OPS_PORT' | 'PLATEN_HOST'>;
  readonly metrics: ReadableMetrics & HttpMetrics;
  readonly logger: Logger;
}

/**
 * Only the routes of operations, the administration where there is one, and PDFs that a worker offers, on a separate port. To be started first, so
 * that it is stopped last.
 */
export async function startOpsServer(
  { role, config, metrics, logger }: OpsServerDeps,
  checks: HealthChecks,
  { admin, offers }: { readonly admin?: ServedAdmin | undefined; readonly offers?: Offers | undefined } = {},
): Promise<ListeningComponent> {
  const app = createOpsApp({ metrics, logger, ...checks }, admin, offers?.handle);
  const { server, port } = await listen(app, opsPortOf(role, config), config.PLATEN_HOST);
  offers?.listening(port, config.PLATEN_HOST);
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

/**
 * @param host undefined for every address: Node then listens on `::`, which takes IPv4 as well, and on 0.0.0.0 where
 * there is no IPv6.
 * @throws when the port is taken.
 */
export async function listen(
  app: RequestListener,
  wanted: number,
  host: string | undefined,
  options: ServerOptions = {},
): Promise<{ server: Server; port: number }> {
  const server = createServer(options, app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(wanted, host, () => resolve());
  });
  return { server, port: (server.address() as AddressInfo).port };
}
