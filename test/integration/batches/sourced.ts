import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { checkCallbackUrl } from '../../../src/infra/egress/callback-url.ts';
import { createGuardedAgent } from '../../../src/infra/egress/guarded-agent.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { pendingAdmission } from '../../../src/infra/overload/pending-admission.ts';
import type { Caller } from '../../../src/tenants/accounts/caller.ts';
import { type Batch, itemJobId } from '../../../src/work/batches/batch.ts';
import type { SourceSubmission } from '../../../src/work/batches/source/source-admission.ts';
import type { ReaderWays, SourceReader } from '../../../src/work/batches/source/source-reader.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import type { Domain } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';
import { callerWith } from './support.ts';

/** A CSV file with so many rows. */
export function csvOf(rows: number, from = 1): string {
  const lines = Array.from({ length: rows }, (_, i) => `inv-${i + from},"Ada ""${i + from}"", Countess"`);
  return `id,customer.name\n${lines.join('\n')}\n`;
}

export async function* bytesOf(text: string, size = 1000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A batch of an uploaded or fetched file. */
export function submissionOf(
  order: Partial<SourceSubmission['order']> = {},
  rest: Partial<SourceSubmission> = {},
): SourceSubmission {
  return {
    batchId: randomUUID(),
    order: { format: 'csv', templateId: randomUUID(), templateVersionId: randomUUID(), ...order },
    content: '<p>{{customer.name}}</p>',
    options: { format: 'A5' },
    notes: '',
    metadata: {},
    webhookUrl: null,
    retentionHours: 24,
    ...rest,
  };
}

/** Batches with sources on a domain, with a reader, and a worker that only notes what it would render. */
export class Sourced {
  readonly domain: Domain;
  readonly caller: Caller;
  readonly reader: SourceReader;
  /** Ids of the items that were rendered, in order. */
  readonly rendered: string[] = [];
  readonly #agent;

  constructor(domain: Domain, ways: Partial<ReaderWays> = {}, caller = callerWith(domain.plan)) {
    this.domain = domain;
    this.caller = caller;
    const policy = createAddressPolicy({ allowedNetworks: parseNetworks(['127.0.0.1/32']) });
    this.#agent = createGuardedAgent({ policy });
    const accounts = { find: async () => undefined };
    this.reader = domain.batches.openReader(accounts, {
      agent: this.#agent,
      checkUpload: (url) => checkCallbackUrl(url, policy, 'uploadUrl'),
      dataErrors: async () => [],
      einvoices: { xmlOf: async () => assert.fail('no invoice is expected') },
      ...ways,
    });
  }

  /** A batch of this text, which is uploaded. */
  async upload(
    text: string,
    rest: Partial<SourceSubmission> = {},
    order: Partial<SourceSubmission['order']> = {},
  ) {
    const upload = randomUUID();
    const file = { _id: upload, accountId: this.caller.accountId, test: this.caller.mode === 'test' };
    await this.domain.batches.files.keep(file, this.domain.plan.maxStoredBytes, bytesOf(text));
    return this.submit(submissionOf(order, { upload, ...rest }));
  }

  submit(submission: SourceSubmission): Promise<Batch> {
    return this.domain.batches.service.submitSource(this.caller, submission, pendingAdmission());
  }

  /** Reads until a batch fits, without rendering anything. */
  async readUntil(batchId: string, what: string, fits: (batch: Batch) => boolean): Promise<Batch> {
    await eventually(what, async () => {
      await this.reader.sweep();
      return fits(await this.batch(batchId));
    });
    return this.batch(batchId);
  }

  /** Lets the reader look at a batch some more times. */
  async idle(): Promise<void> {
    await sleep(800);
  }

  /** Completes what holds a slot. @returns how many. */
  async render(): Promise<number> {
    const { ledger, store, followUp, clock } = this.domain;
    const record = await ledger.find(this.caller.accountId);
    const jobs = [...(await store.live.among(Object.keys(record?.holders ?? {}))).values()];
    for (const job of jobs.filter(({ state }) => state === 'dispatched')) {
      const claimed = await store.transitions.claim(job, 'worker', 15_000);
      const expiresAt = new Date(clock.now().getTime() + 3_600_000);
      const output = { key: outputKey(job._id, 1, expiresAt), size: 10, pages: 1, sha256: '' };
      // Cancelled meanwhile.
      if (claimed?.job === undefined) continue;
      this.rendered.push(job.item!.id);
      await followUp.follow([(await store.transitions.complete(claimed.job, output, expiresAt))!]);
    }
    return jobs.length;
  }

  /** Reads and renders until the batch has ended. */
  async finish(batchId: string): Promise<Batch> {
    for (let rounds = 0; rounds < 2000; rounds += 1) {
      await this.reader.sweep();
      await this.render();
      await this.domain.followUp.flush();
      const batch = await this.batch(batchId);
      if (batch.finishedAt !== null) return batch;
      await sleep(5);
    }
    assert.fail(`not finished: ${JSON.stringify(await this.batch(batchId))}`);
  }

  async batch(batchId: string): Promise<Batch> {
    return (await this.domain.batches.store.find(batchId))!;
  }

  items(batch: Batch, range = { offset: 0, limit: 100_000 }) {
    return this.domain.batches.service.items(batch, range);
  }

  /** Waits until nothing of any file is kept. */
  async assertNothingKept(names = ['source_files', 'source_parts', 'batch_readings']): Promise<void> {
    for (const name of names) {
      const isEmpty = async () => (await this.domain.connection.collection(name).countDocuments()) === 0;
      await eventually(`nothing is in ${name}`, isEmpty);
    }
  }

  /** PDFs of the quota that were used. */
  async charged(): Promise<number> {
    const record = await this.domain.ledger.find(this.caller.accountId);
    return Object.values(record?.quota ?? {}).reduce((sum, used) => sum + used, 0);
  }

  async jobOf(batch: Batch, position: number, id: string): Promise<Job | undefined> {
    const jobId = itemJobId(batch, position, id);
    const { live, history } = this.domain.store;
    return (await live.find(jobId)) ?? (await history.find(jobId));
  }

  async close(): Promise<void> {
    await this.reader.stop();
    await this.#agent.destroy();
  }
}
