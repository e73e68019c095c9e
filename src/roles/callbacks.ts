import type { Sweep } from '../infra/async/sweeper.ts';
import { createGuardedAgent } from '../infra/egress/guarded-agent.ts';
import { createPost } from '../work/callbacks/post.ts';
import { CallbackSender } from '../work/callbacks/sender.ts';
import { SigningKeys } from '../work/callbacks/signing-keys.ts';
import type { Core } from './core.ts';
import { wayOutOf } from './way-out.ts';

/** How long a receiver may take to respond, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * The sender of all accounts' callbacks, under the address policy of documents. To be opened before the connection's
 * indexes are created.
 */
export function openSender(core: Core): { sender: CallbackSender; close: () => Promise<void> } {
  const { config, metrics, logger, address } = core;
  const agent = createGuardedAgent({ ...wayOutOf(config), connectTimeoutMs: TIMEOUT_MS });
  const sender = new CallbackSender({
    deliveries: core.callbacks.deliveries,
    keys: new SigningKeys(core.connection, core.clock),
    accounts: core.accounts,
    batches: core.batchStore,
    clock: core.clock,
    logger,
    tracing: core.tracing,
    post: createPost(agent, TIMEOUT_MS),
    publicUrl: () => address.publicUrl,
    headerPrefix: config.PLATEN_HEADER_PREFIX,
    random: Math.random,
    observe: (outcome) => metrics.callbacks.inc({ outcome }),
  });
  for (const outcome of ['delivered', 'retried', 'failed']) metrics.callbacks.inc({ outcome }, 0);
  if (core.role === 'dispatcher' && config.PLATEN_PUBLIC_URL === undefined) {
    logger.warn('PLATEN_PUBLIC_URL is not set: callbacks are kept, and sent once it is');
  }
  return {
    sender,
    async close() {
      await sender.stop(Math.min(TIMEOUT_MS, config.PLATEN_SHUTDOWN_GRACE_MS));
      await agent.destroy();
    },
  };
}

export function callbackSweep({ config, metrics }: Core, sender: CallbackSender): Sweep {
  return {
    name: 'callbacks',
    everyMs: config.PLATEN_SWEEP_MS,
    async run() {
      await sender.send();
      metrics.callbackOldestDue.set((await sender.oldestDueMs()) / 1000);
      return undefined;
    },
  };
}
