import type { Dispatcher } from 'undici';
import { ordinary, restPauseMs, type Sweep } from '../../infra/async/sweeper.ts';
import type { Core } from '../../infra/core.ts';
import { createGuardedAgent } from '../../infra/egress/guarded-agent.ts';
import type { WayOutOptions } from '../../infra/egress/way-out.ts';
import type { AccountReader } from '../../tenants/accounts/account-store.ts';
import type { Batches } from '../batches/open-batches.ts';
import { DeliveredOutputs } from '../jobs/delivered-outputs.ts';
import type { Jobs } from '../jobs/open-jobs.ts';
import type { CallbackMetrics } from './callback-metrics.ts';
import type { Callbacks } from './open-callbacks.ts';
import { createPost } from './post.ts';
import { CallbackSender, type CallbackSenderDeps } from './sender.ts';
import { createPut, deleteUploaded } from './uploads.ts';

/** How long a receiver may take to respond, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** How long an upload may take, in milliseconds: 100 MiB at a MiB a second. */
const UPLOAD_TIMEOUT_MS = 120_000;

interface SenderCore extends Pick<Core, 'clock' | 'logger' | 'tracing'> {
  readonly metrics: CallbackMetrics;
  readonly accounts: Pick<AccountReader, 'find'>;
  readonly callbacks: Callbacks;
  readonly batches: Batches;
  /** Called once for each result of an attempt to send a callback. */
  readonly onAttempt?: NonNullable<CallbackSenderDeps['onAttempt']>;
  /** The start of addresses in callbacks, which are kept while it is not known. */
  readonly address: { readonly publicUrl: string | undefined };
  readonly config: {
    readonly PLATEN_HEADER_PREFIX: string;
    /** In milliseconds. */
    readonly PLATEN_SHUTDOWN_GRACE_MS: number;
    /** In milliseconds. */
    readonly PLATEN_SWEEP_MS: number;
  };
}

interface OpenSender {
  readonly sweep: Sweep;
  stop(): Promise<void>;
}

/** Opens what sends all accounts' callbacks. @param wayOut the address policy of documents. */
export function openCallbackSender(core: SenderCore, wayOut: WayOutOptions): OpenSender {
  const { metrics, address, callbacks } = core;
  return openSender(core, wayOut, 'callbacks', {
    deliveries: callbacks.deliveries,
    publicUrl: () => address.publicUrl,
    ...(core.onAttempt && { onAttempt: core.onAttempt }),
    afterSweep: async (sender) => metrics.callbackOldestDue.set((await sender.oldestDueMs()) / 1000),
  });
}

/**
 * Opens what puts PDFs to the addresses of all accounts, with the bounds, the retries and the address policy of callbacks.
 *
 * @param wayOut the address policy of documents.
 */
export function openUploadSender(
  core: Omit<SenderCore, 'address' | 'onAttempt'> & Pick<Core, 'outputs'> & { readonly jobs: Jobs },
  wayOut: WayOutOptions,
): OpenSender {
  const delivered = new DeliveredOutputs({ ...core, ...core.jobs });
  const sender = openSender(core, wayOut, 'uploads', {
    deliveries: core.callbacks.uploads,
    send: (agent) => createPut(agent, core, UPLOAD_TIMEOUT_MS),
    onAttempt: deleteUploaded({ ...core.jobs, delivered }),
    publicUrl: () => '',
  });
  return {
    ...sender,
    async stop() {
      await sender.stop();
      await delivered.flush();
    },
  };
}

/** How many times the usual pause is made while nothing happens: first callbacks follow the ends of jobs. */
const AT_REST = 60;

function openSender(
  core: Omit<SenderCore, 'address' | 'onAttempt'>,
  wayOut: WayOutOptions,
  name: 'callbacks' | 'uploads',
  kind: Pick<CallbackSenderDeps, 'deliveries' | 'publicUrl' | 'onAttempt'> & {
    readonly send?: (agent: Dispatcher) => NonNullable<CallbackSenderDeps['send']>;
    readonly afterSweep?: (sender: CallbackSender) => Promise<void>;
  },
): OpenSender {
  const { config, metrics, callbacks, batches } = core;
  const { deliveries, publicUrl, send, onAttempt, afterSweep } = kind;
  const agent = createGuardedAgent({ ...wayOut, connectTimeoutMs: TIMEOUT_MS });
  const sender = new CallbackSender({
    ...core,
    ...callbacks,
    deliveries,
    batches: batches.store,
    post: createPost(agent, TIMEOUT_MS),
    ...(send && { send: send(agent) }),
    ...(onAttempt && { onAttempt }),
    publicUrl,
    headerPrefix: config.PLATEN_HEADER_PREFIX,
    random: Math.random,
    observe: (outcome) => metrics[name].inc({ outcome }),
  });
  for (const outcome of ['delivered', 'retried', 'failed']) metrics[name].inc({ outcome }, 0);
  return {
    sweep: ordinary(
      name,
      config.PLATEN_SWEEP_MS,
      async () => {
        const found = await sender.send();
        await afterSweep?.(sender);
        return Number(found);
      },
      restPauseMs(config.PLATEN_SWEEP_MS, AT_REST),
    ),
    async stop() {
      await sender.stop(Math.min(TIMEOUT_MS, config.PLATEN_SHUTDOWN_GRACE_MS));
      await agent.destroy();
    },
  };
}
