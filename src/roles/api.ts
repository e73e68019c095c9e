import { opsPortOf } from '../config/config.ts';
import { createHttpApp } from '../http/app.ts';
import type { Api } from '../http/open-api.ts';
import { boundConnections, CONNECTION_TIMEOUTS, inactivityMsFor } from '../infra/overload/connections.ts';
import type { Core } from './core.ts';
import { type ListeningComponent, listen } from './process/http-server.ts';
import { ServerDrain } from './process/server-drain.ts';

/** While the API stops: the end of the grace, in milliseconds, for responses to callers that waited in vain. */
const RESPONSE_MS = 1000;
/** While the API stops: how long requests are taken over kept connections, in milliseconds. */
const LAST_REQUESTS_MS = 2000;
/** The most of the grace that `LAST_REQUESTS_MS` may take. */
const LAST_REQUESTS_SHARE = 1 / 4;

/** Listens: from now on submissions are taken and their results served. */
export async function startApi(core: Core, api: Api): Promise<ListeningComponent> {
  const { role, config, logger } = core;
  const app = createHttpApp(api.deps, opsPortOf(role, config) === config.PORT);
  const { server, port } = await listen(app, config.PORT, config.PLATEN_HOST, CONNECTION_TIMEOUTS);
  const drain = new ServerDrain(server);
  boundConnections(
    server,
    { max: config.PLATEN_MAX_CONNECTIONS, inactivityMs: inactivityMsFor(config.PLATEN_SYNC_WAIT_MS) },
    logger,
  );
  core.address.publicUrl ??= `http://localhost:${port}`;
  return {
    port,
    async stop() {
      const graceMs = config.PLATEN_SHUTDOWN_GRACE_MS;
      const force = setTimeout(() => server.closeAllConnections(), graceMs);
      // In standalone no other process takes a caller's next request.
      const lastMs = role === 'standalone' ? 0 : Math.min(LAST_REQUESTS_MS, graceMs * LAST_REQUESTS_SHARE);
      if (lastMs > 0) await drain.takeLastRequests(lastMs);
      await api.endStreams();
      const closed = drain.close();
      // Callers whose jobs take longer than the grace get 202: the jobs go on without this process.
      await api.endWaiting(Math.max(0, graceMs - lastMs - RESPONSE_MS));
      await closed;
      clearTimeout(force);
      await api.close();
    },
    problems: () => [],
    stuck: () => undefined,
  };
}
