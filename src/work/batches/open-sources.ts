import { ordinary, restPauseMs, type Sweep } from '../../infra/async/sweeper.ts';
import type { Core } from '../../infra/core.ts';
import { checkCallbackUrl } from '../../infra/egress/callback-url.ts';
import { createGuardedAgent } from '../../infra/egress/guarded-agent.ts';
import type { WayOutOptions } from '../../infra/egress/way-out.ts';
import { createEinvoiceChecker } from '../../render/einvoice/einvoice-checker.ts';
import { createTemplateEngine, type TemplateEngine } from '../../tenants/templates/engine/template-engine.ts';
import type { Batches } from './open-batches.ts';
import type { ReaderCore } from './source/source-reader.ts';

/** How many times the usual pause is made while nothing happens: an owner who has made a batch waits for it. */
const AT_REST = 10;

interface SourcesCore extends Pick<Core, 'logger'> {
  readonly batches: Batches;
  readonly accounts: ReaderCore['accounts'];
  readonly config: {
    /** In milliseconds. */
    readonly PLATEN_SWEEP_MS: number;
  };
}

/** Opens what reads the sources of all accounts' batches. @param wayOut the address policy of documents. */
export function openSources(
  { batches, accounts, config, logger }: SourcesCore,
  wayOut: WayOutOptions,
): { readonly sweep: Sweep; stop(): Promise<void> } {
  const agent = createGuardedAgent(wayOut);
  // Its process is started when the first row has to fit a schema.
  let engine: TemplateEngine | undefined;
  const einvoices = createEinvoiceChecker({ logger });
  const reader = batches.openReader(accounts, {
    ...{ agent, einvoices },
    checkUpload: (url) => checkCallbackUrl(url, wayOut.policy, 'uploadUrl'),
    dataErrors(schema, data, terms) {
      engine ??= createTemplateEngine({ processes: 1, logger });
      return engine.dataErrors(schema, data, terms);
    },
  });
  const everyMs = config.PLATEN_SWEEP_MS;
  return {
    sweep: ordinary('batch-sources', everyMs, () => reader.sweep(), restPauseMs(everyMs, AT_REST)),
    async stop() {
      await reader.stop();
      await engine?.close();
      await einvoices.close();
      await agent.destroy();
    },
  };
}
