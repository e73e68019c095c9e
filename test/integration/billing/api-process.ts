import { setTimeout as sleep } from 'node:timers/promises';
import { BlockStore } from '../../../src/billing/blocks/block-store.ts';
import { StripeBlocks } from '../../../src/billing/stripe/stripe-blocks.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { BlockLedger } from '../../../src/work/jobs/blocks/block-ledger.ts';
import { QuotaExtension } from '../../../src/work/jobs/blocks/quota-extension.ts';
import { openApi } from '../http/support/api.ts';

/** Where the process ends: before or after an operation. */
export interface Death {
  readonly when: 'before' | 'after';
  readonly operation: keyof typeof OWNERS;
}

/** What a process is started with. */
export interface ApiProcessOptions {
  /** Of the database. */
  readonly uri: string;
  /** Where Stripe is, and its key. */
  readonly apiBase: string;
  readonly secretKey: string;
  /** PDFs a period. */
  readonly quota: number;
  /** By how much its clock is ahead. */
  readonly aheadMs: number;
  readonly death?: Death | undefined;
}

/** Whether to continue blocks or leave them alone, and by how much longer or shorter requests wait for a purchase. */
export interface ToApiProcess {
  readonly dispatches: boolean;
  readonly waitsLongerMs: number;
}
/** It says where it listens. */
export type FromApiProcess = { readonly url: string };

/** Whose the steps of the ledger are. */
const OWNERS = {
  reserve: BlockLedger,
  add: BlockStore,
  draft: StripeBlocks,
  finalise: StripeBlocks,
  pay: StripeBlocks,
  void: StripeBlocks,
  grant: BlockLedger,
  release: BlockLedger,
  enqueue: MailOutbox,
} as const;
/** Requests get their responses this soon, in milliseconds: nothing is rendered here. */
const SYNC_WAIT_MS = 50;
const PAUSE_MS = 20;

/** From now on the process is killed, without warning, by whatever of it comes to the operation first. */
function dieAt({ when, operation }: Death): void {
  const { prototype } = OWNERS[operation];
  const work: unknown = Reflect.get(prototype, operation);
  if (typeof work !== 'function') throw new Error(`There is no ${operation}.`);
  Reflect.set(prototype, operation, async function (this: object, ...args: unknown[]) {
    if (when === 'after') await Reflect.apply(work, this, args);
    process.kill(process.pid, 'SIGKILL');
  });
}

/**
 * The API and the dispatcher of blocks in one process, as in standalone; jobs are accepted, and never rendered.
 *
 * api-process.ts <ApiProcessOptions as JSON>
 */
const options = JSON.parse(process.argv[2]!) as ApiProcessOptions;
if (options.death !== undefined) dieAt(options.death);
const api = await openApi({
  uri: options.uri,
  plan: { monthlyRenders: options.quota, concurrentRenders: 1_000 },
  syncWaitMs: SYNC_WAIT_MS,
  billing: { STRIPE_SECRET_KEY: options.secretKey, STRIPE_API_BASE: options.apiBase },
});
await api.worker.stop();
api.domain.clock.pass(options.aheadMs);
let dispatches = false;
let waitsLongerMs = 0;
process.on('message', (reported: ToApiProcess) => {
  ({ dispatches, waitsLongerMs } = reported);
});
const { more } = QuotaExtension.prototype;
QuotaExtension.prototype.more = function (accountId, quota, count, began, releasePermit) {
  return more.call(this, accountId, quota, count, began + waitsLongerMs, releasePermit);
};
// The parent process is gone.
process.once('disconnect', () => process.exit(0));
process.send!({ url: api.url } satisfies FromApiProcess);
for (;;) {
  if (dispatches) await api.billing.selling!.blockPurchases.sweep();
  await sleep(PAUSE_MS);
}
