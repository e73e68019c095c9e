import { PlatenError } from '../../../infra/errors/registry.ts';
import type { RenderOptions } from '../../../render/options/all/render-options.ts';
import type { Account } from '../../../tenants/accounts/account-store.ts';
import { type NamedPlan, poolOf } from '../../../tenants/plans/plan.ts';
import { quotaPeriod } from '../../../tenants/plans/quota-period.ts';
import { quotaOf, rejectIfSlow, tookTooLong } from '../../jobs/admission.ts';
import { rejectionOf } from '../../jobs/admission-rejection.ts';
import { withExtension } from '../../jobs/blocks/quota-extension.ts';
import type { Job } from '../../jobs/job.ts';
import type { QuotaLimit } from '../../jobs/ledger/ledger-filter.ts';
import { newInput, optionFacts, queuedJob } from '../../jobs/new-job.ts';
import { BATCH_QUEUE, positionOf } from '../../jobs/priority-queues.ts';
import type { StoredInput } from '../../jobs/store/collections.ts';
import { storedInput } from '../../jobs/store/stored-input.ts';
import { type Batch, type BatchItem, itemJobId, type SourceProblem } from '../batch.ts';
import { chunkIds } from '../batch-admission.ts';
import type { BatchCore } from '../batch-core.ts';
import type { ItemEnd } from '../chunk-tally.ts';
import { MARKUP_PART, OPTIONS_PART, type Reading } from '../readings.ts';
import type { RowItem } from './row-item.ts';
import type { SourcedBatches } from './sourced-batches.ts';

/** Bytes of an item in the record of a batch, besides its names. */
const ITEM_BYTES = 128;

/** What a step works on. */
export interface StepCore extends BatchCore {
  readonly sourced: SourcedBatches;
}

/** Rows that follow each other in one chunk of a batch. */
export interface RowStep {
  readonly batch: Batch;
  readonly reading: Reading;
  /** Of the first of these rows, counted from 0. */
  readonly first: number;
  readonly items: readonly RowItem[];
  readonly options: RenderOptions;
  readonly account: Pick<Account, 'quotaWindow'> | undefined;
  readonly named: NamedPlan;
  /** Whether an earlier step may have written some of their jobs. */
  readonly again: boolean;
  readonly now: Date;
}

/** The rows that became items. */
interface Written {
  readonly count: number;
  readonly recordBytes: number;
  /** How those ended that have no job, by the index of the item. */
  readonly ends: ReadonlyMap<number, ItemEnd>;
}

interface Made {
  readonly item: BatchItem;
  readonly job: Job;
  /** Undefined for a row without a job. */
  readonly input: StoredInput | undefined;
}

/**
 * Makes jobs of rows, as an admission does (jobs/admission.ts), whose crash table holds here as well: positions, quota and
 * storage are taken in one update of the ledger under the name of the first job, and what was not written is given back
 * by a sweep. Ids follow from the batch and the row, so a row is never written twice, and each has its PDF of the quota.
 *
 * @returns undefined while an earlier step that has died still holds what it took.
 * @throws PlatenError as an admission does; nothing of the rows remains then.
 */
export async function writeRows(deps: StepCore, step: RowStep): Promise<Written | undefined> {
  const { ledger, store, dispatch } = deps;
  const made = madeOf(step);
  const there = step.again ? await thereOf(deps, made) : new Set<string>();
  const missing = made.filter(({ input, job }) => input !== undefined && !there.has(job._id));
  if (missing.length > 0) {
    const [{ job: named }] = missing as [Made];
    const { taken, began } = await reserve(deps, step, missing);
    if (taken === undefined) return undefined;
    await store.inputs.save(missing.map(({ input }) => input!));
    await addItems(deps, step, made);
    rejectIfSlow(began);
    const placed = missing.map(({ job }, i) => ({
      ...job,
      position: positionOf(job.accountId, BATCH_QUEUE, taken + i),
    }));
    await store.transitions.accept(placed);
    dispatch.expect(placed);
    const confirmed = await ledger.confirmPositions(named.accountId, named._id);
    if (confirmed === undefined) {
      // A sweep has taken this process for dead, and has given back what it had reserved.
      await store.live.withdraw(placed.map(({ _id }) => _id));
      throw tookTooLong();
    }
    await dispatch.serve(named.accountId, confirmed);
  } else await addItems(deps, step, made);
  return writtenOf(step, made);
}

/**
 * Records what a step has written in which a process died, without writing more of it: the batch has ended meanwhile. Rows
 * among them that have no job have failed.
 */
export async function settleRows(deps: StepCore, step: RowStep): Promise<Written> {
  const made = madeOf(step);
  const there = await thereOf(deps, made);
  const count = made.findLastIndex(({ job }) => there.has(job._id)) + 1;
  const fault: SourceProblem = {
    code: 'CANCELLED',
    message: 'The row was not rendered: the batch had ended.',
  };
  const settled = made
    .slice(0, count)
    .map((one) =>
      one.input === undefined || there.has(one.job._id)
        ? one
        : { ...one, input: undefined, item: { ...one.item, fault } },
    );
  if (count > 0) await addItems(deps, step, settled);
  return writtenOf(step, settled);
}

function writtenOf({ first }: RowStep, made: readonly Made[]): Written {
  const ends = new Map<number, ItemEnd>();
  for (const [i, { item }] of made.entries())
    if (item.fault !== undefined) ends.set(first + i, { code: item.fault.code, bytes: 0 });
  return { count: made.length, recordBytes: recordBytesOf(made), ends };
}

async function thereOf({ store }: StepCore, made: readonly Made[]): Promise<Set<string>> {
  const ids = made.flatMap(({ job, input }) => (input === undefined ? [] : [job._id]));
  // Live jobs first: a job that ends is copied to the history before it is deleted from the live jobs.
  const live = await store.live.among(ids);
  const ended = await store.history.among(ids.filter((id) => !live.has(id)));
  return new Set([...live.keys(), ...ended]);
}

async function addItems(deps: StepCore, { batch, first }: RowStep, made: readonly Made[]): Promise<void> {
  const items = made.map(({ item }) => item);
  const chunk = Math.floor(first / batch.chunkSize);
  await deps.sourced.addItems(batch._id, chunk, first - chunk * batch.chunkSize, items);
}

async function reserve(deps: StepCore, step: RowStep, missing: readonly Made[]) {
  const { ledger, quotaExtension } = deps;
  const { batch, named, account, now } = step;
  const { accountId } = batch;
  const [{ job: first }] = missing as [Made];
  const jobs = missing.map(({ job }) => job._id);
  const bytes = missing.reduce((sum, { item }) => sum + item.inputBytes, 0);
  const stored = { bytes: bytes + recordBytesOf(missing), max: named.plan.maxStoredBytes };
  const plain = quotaOf(first, named.plan, now);
  const need = { accountId, count: jobs.length, plain, releasePermit: () => undefined };
  return withExtension(quotaExtension, need, async (quota: QuotaLimit | undefined) => {
    const admission = { id: first._id, jobs, queue: BATCH_QUEUE };
    const limits = { maxWaiting: named.plan.maxWaitingJobs, quota, stored };
    const taken = await ledger.takePositions(accountId, admission, limits);
    if (taken !== undefined) return taken;
    const record = await ledger.find(accountId);
    if (record?.pending?.[first._id] !== undefined) return undefined;
    throw rejectionOf(record, jobs.length, { plan: named.plan, ...account }, limits, now);
  });
}

function madeOf({ batch, reading, first, items, options, account, named, now }: RowStep): Made[] {
  const { order } = reading;
  const { accountId, test } = batch;
  const facts = optionFacts(options);
  const [markup, shared] = [MARKUP_PART, OPTIONS_PART].map((part) => chunkIds(batch._id, part + 1)[part]!);
  return items.map(({ id, fileName, data, uploadUrl, options: ofRow, fault }, i) => {
    const index = first + i;
    const jobId = itemJobId(batch, index, id);
    const { input, tooLarge } = inputOf();
    const inputBytes = input?.content.length() ?? 0;
    const problem = fault ?? tooLarge;
    const item: BatchItem = {
      ...{ id, fileName, inputMode: 'template', ...facts, inputBytes },
      ...(uploadUrl !== undefined && { uploadUrl }),
      ...(problem && { fault: problem }),
    };
    const job = queuedJob({
      ...{ _id: jobId, accountId, apiKeyId: batch.apiKeyId, plan: named.name, pool: poolOf(named.plan) },
      ...{ class: 'bulk', test, inputMode: 'template', outputMode: 'url', fileName, ...facts },
      quotaPeriod: test ? null : quotaPeriod(now, account?.quotaWindow),
      ...(uploadUrl !== undefined && { uploadUrl }),
      createdAt: batch.createdAt,
      // The first job must be kept as long as the last, which may be read at the deadline.
      retentionHours: 2 * batch.retentionHours,
      ...(batch.keepsNothing && { keepsNothing: true as const }),
      item: { batchId: batch._id, id, index, chunk: Math.floor(index / batch.chunkSize) },
      inputBytes,
      templateId: order.templateId,
      ...(batch.ownerFence !== undefined && { ownerFence: batch.ownerFence }),
      ...(batch.trace !== undefined && { trace: batch.trace }),
    });
    return { item, job, input };

    function inputOf(): { input: StoredInput | undefined; tooLarge?: SourceProblem } {
      if (data === undefined || fault !== undefined) return { input: undefined };
      const { templateId, templateVersionId } = order;
      const source = { mode: 'template', templateId, templateVersionId, content: '', data } as const;
      const own = newInput({ jobId, source, options }, { accountId, plan: named.plan }, now);
      const stored =
        ofRow === undefined
          ? storedInput({ ...own, options: {} }, { markup: markup!, options: shared! })
          : storedInput({ ...own, options: ofRow }, { markup: markup! });
      const max = named.plan.maxInputSizeBytes;
      if (stored.content.length() <= max) return { input: stored };
      const message = `Row ${index + 1}: its data take more than ${max} bytes.`;
      return { input: undefined, tooLarge: { code: 'INPUT_TOO_LARGE', message } };
    }
  });
}

function recordBytesOf(made: readonly Made[]): number {
  return made.reduce(
    (sum, { item: { id, fileName, uploadUrl = '', fault } }) =>
      sum + ITEM_BYTES + Buffer.byteLength(id + fileName + uploadUrl + (fault?.message ?? '')),
    0,
  );
}

/** Whether a rejection ends by itself, so that the batch waits for that. */
export function passes(error: unknown): error is PlatenError {
  return error instanceof PlatenError && WAITED_FOR.has(error.code);
}

const WAITED_FOR = new Set<string>([
  'QUOTA_EXCEEDED',
  'TEST_QUOTA_EXCEEDED',
  'OVERAGE_PENDING',
  'STORAGE_FULL',
  'TOO_MANY_WAITING',
]);
