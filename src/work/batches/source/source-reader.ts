import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { Semaphore } from '../../../infra/async/semaphore.ts';
import { PlatenError } from '../../../infra/errors/registry.ts';
import { DueWork } from '../../../infra/store/due-work.ts';
import type { RenderOptions } from '../../../render/options/all/render-options.ts';
import type { AccountReader } from '../../../tenants/accounts/account-store.ts';
import { type Batch, hasFinished, pendingOf, type SourceProblem } from '../batch.ts';
import { chunkIds } from '../batch-admission.ts';
import type { BatchReconciler } from '../batch-reconciler.ts';
import type { ItemEnd } from '../chunk-tally.ts';
import { OPTIONS_PART, type Reading, SCHEMA_PART } from '../readings.ts';
import { FetchFailed, fetched } from './fetch-source.ts';
import { type NextAction, nextAction, STEP_ROWS } from './next-action.ts';
import { READINGS_AT_ONCE, readingBounds } from './reading-bounds.ts';
import { checkedItems, type RowChecks } from './row-checks.ts';
import { passes, type RowStep, type StepCore, settleRows, writeRows } from './row-step.ts';
import { type Row, rowsOf, SourceFault } from './rows.ts';
import type { SourceFiles } from './source-files.ts';
import { surveyOf } from './survey.ts';

/** Milliseconds after which a batch that is read makes place for others. */
const TURN_MS = 5000;
/** Files that are counted at a time. */
const SURVEYS = 2;
/** How often a full batch is looked at, in milliseconds. */
const FULL_MS = 250;
/** Milliseconds until a batch is looked at again whose account has no quota or storage left, or is suspended. */
const WAITING_MS = 30_000;
/** Milliseconds until a step is tried again that a dead process has begun: a sweep gives back what that has taken. */
const AGAIN_MS = 1000;
/** How long a reading may be there before its batch, in milliseconds: a request that takes longer has died. */
const YOUNG_MS = 60_000;
/** Attempts to fetch a file. */
const FETCHES = 5;
/** Milliseconds that a stop waits for the step under way. */
const STOP_MS = 5000;

export interface ReaderCore extends StepCore {
  readonly files: SourceFiles;
  readonly accounts: Pick<AccountReader, 'find'>;
  readonly reconciler: Pick<BatchReconciler, 'begin'>;
  /** Runs when a batch has ended. Repeated for a batch, it must change nothing. */
  readonly onFinished: (batch: Batch) => Promise<void>;
}

/** What a reader reaches besides the work of accounts. */
export interface ReaderWays extends RowChecks {
  /** Decides which addresses may be reached. */
  readonly agent: Dispatcher;
}

/**
 * Reads the sources of batches. Rows become items as items end, so that neither the ledger nor the database grows with the
 * file:
 *
 *     fetch ─▶ survey ─▶ step ─▶ step ─▶ … ─▶ whole
 *                 │        └─ full: waits until items have ended; rest: paused, or the proof is not released
 *                 └─ not readable, cancelled, or past the deadline: cut, after the step that a dead process has begun
 *
 * One process at a time reads a batch, under the lease of its reading. The reading has the place in the file, so that after
 * a crash the next process continues with the step that has begun: it writes what is missing of it (row-step.ts).
 */
export class SourceReader {
  readonly #deps: ReaderCore;
  readonly #ways: ReaderWays;
  readonly #work: DueWork<Reading>;
  readonly #abort = new AbortController();
  /** Each holds the ids of a whole file. */
  readonly #surveys = new Semaphore(SURVEYS);

  constructor(deps: ReaderCore, ways: ReaderWays) {
    this.#deps = deps;
    this.#ways = ways;
    const { readings } = deps.batches;
    this.#work = new DueWork<Reading>({
      queue: readings,
      perQuery: READINGS_AT_ONCE,
      bounds: readingBounds(readings),
      claim: (seen) => readings.begin(seen),
      renews: true,
      attempt: (reading) => this.#read(reading),
      onError: async (error, reading) => {
        deps.logger.warn({ err: error, batchId: reading._id }, 'the source of a batch is read later');
        await readings.rest(reading, deps.clock.now(), true);
      },
    });
  }

  /** Begins what is due. @returns whether there was anything. */
  async sweep(): Promise<number> {
    await this.#work.keepUp();
    return Number(!this.#work.foundNone);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#work.stop(STOP_MS);
  }

  /** Resolves when nothing is being read. */
  idle(): Promise<void> {
    return this.#work.idle();
  }

  async #read(claimed: Reading): Promise<void> {
    const { batches, clock } = this.#deps;
    let reading = claimed;
    const until = performance.now() + TURN_MS;
    while (performance.now() < until && !this.#abort.signal.aborted) {
      const batch = await batches.find(reading._id);
      if (batch === undefined) return await this.#withoutBatch(reading);
      const { plan } = await this.#deps.planOf(batch.accountId);
      const facts = { slots: plan.concurrentRenders, maxWaiting: plan.maxWaitingJobs, now: clock.now() };
      const action = nextAction(batch, reading, facts);
      const next = await this.#act(action, batch, reading, facts.slots);
      if (next === 'over') return;
      if (typeof next === 'number') return await this.#rest(reading, batch, next);
      reading = next;
    }
    await batches.readings.rest(reading, clock.now());
  }

  /** @returns the reading as it goes on; milliseconds after which it does; or that the claim has ended. */
  async #act(
    action: NextAction,
    batch: Batch,
    reading: Reading,
    slots: number,
  ): Promise<Reading | number | 'over'> {
    switch (action.kind) {
      case 'done':
        return this.#done(batch, reading);
      case 'whole': {
        const whole = await this.#deps.sourced.readWhole(batch._id);
        return whole === undefined ? reading : this.#done(whole, reading);
      }
      case 'rest':
        return Math.max(0, batch.source!.deadline.getTime() - this.#deps.clock.now().getTime());
      case 'full':
        if (slots < 1) return WAITING_MS;
        await sleep(FULL_MS);
        return reading;
      case 'cut': {
        const expired: SourceProblem = {
          code: 'EXPIRED',
          message: 'Rows that were not read by the deadline are not rendered.',
        };
        return this.#cut(batch, reading, action.why === 'expired' ? expired : undefined, true);
      }
      default:
        return this.#withFile(action, batch, reading);
    }
  }

  async #withFile(
    action: Extract<NextAction, { kind: 'survey' | 'settle' | 'step' }>,
    batch: Batch,
    reading: Reading,
  ): Promise<Reading | number | 'over'> {
    try {
      if (action.kind === 'survey') return await this.#survey(batch, reading);
      return await this.#step(action, batch, reading);
    } catch (error) {
      if (error instanceof FetchFailed) {
        if ((reading.failures ?? 0) + 1 < FETCHES) throw error;
        return this.#cut(batch, reading, { code: 'URL_UNREACHABLE', message: error.message }, false);
      }
      if (error instanceof SourceFault)
        return this.#cut(batch, reading, { code: 'SOURCE_UNREADABLE', message: error.message }, false);
      // A file that does not fit is not fetched again and again.
      if (action.kind === 'step' && passes(error)) {
        await this.#deps.sourced.waits(batch._id, { code: error.code, message: error.message });
        return error.code === 'TOO_MANY_WAITING' ? AGAIN_MS : WAITING_MS;
      }
      if (!(error instanceof PlatenError) || error.code === 'UNAVAILABLE' || error.code === 'INTERNAL')
        throw error;
      return this.#cut(batch, reading, { code: error.code, message: error.message }, false);
    }
  }

  async #survey(batch: Batch, reading: Reading): Promise<Reading | 'over'> {
    const { batches, sourced, files, planOf } = this.#deps;
    const { plan } = await planOf(batch.accountId);
    const { order } = reading;
    if (order.url !== undefined && (await files.find(order.fileId))?.writer === undefined) {
      const { accountId, test } = batch;
      const content = fetched(order.url, this.#ways.agent, this.#abort.signal);
      await files.keep({ _id: order.fileId, accountId, test }, plan.maxStoredBytes, content);
      await files.use(order.fileId, { accountId, test }, batch._id, batch.source!.deadline);
    }
    const file = await this.#fileOf(reading);
    const found = await this.#surveys.run(() =>
      surveyOf(reading, (offset) => files.read(file, offset), plan.maxBatchItems),
    );
    const { rows, format, cursor, repeats } = found;
    if ((await sourced.counted(batch._id, rows)) === undefined) return reading;
    return (
      (await batches.readings.renew(reading, {
        $set: { format, cursor, repeats },
        $unset: { fetches: '' },
      })) ?? 'over'
    );
  }

  async #fileOf({ order }: Reading) {
    const file = await this.#deps.files.find(order.fileId);
    if (file?.writer === undefined) throw new SourceFault('The file is no longer kept.');
    return file;
  }

  async #step(
    action: Extract<NextAction, { kind: 'settle' | 'step' }>,
    batch: Batch,
    reading: Reading,
  ): Promise<Reading | number | 'over'> {
    const { batches, sourced, accounts, planOf, clock } = this.#deps;
    const { cursor } = action;
    const isSettled = action.kind === 'settle';
    const again = isSettled || action.again;
    const options = JSON.parse(await this.#part(batch, OPTIONS_PART)) as RenderOptions;
    const rows = await this.#rowsFrom(batch, reading, isSettled ? undefined : action.rows);
    const schema = reading.order.hasSchema ? await this.#part(batch, SCHEMA_PART) : undefined;
    const items = await checkedItems(rows, { batch, reading, options, schema }, this.#ways);
    if (!again && !(await batches.readings.renew(reading, { $set: { begun: cursor.row } }))) return 'over';
    const [named, account] = [await planOf(batch.accountId), await accounts.find(batch.accountId)];
    const step: RowStep = {
      ...{ batch, reading, first: cursor.row, items, account, named, again },
      options,
      now: clock.now(),
    };
    const written = isSettled ? await settleRows(this.#deps, step) : await this.#writeFitting(step);
    if (written === undefined) return AGAIN_MS;
    const { count, recordBytes, ends } = written;
    if (ends.size > 0) await this.#countFaults(batch, cursor.row, ends);
    const read = cursor.row + count;
    const next = { offset: count === 0 ? cursor.offset : rows[count - 1]!.end, row: read };
    await sourced.progressed(batch._id, read, batch.recordBytes + recordBytes);
    // If the quota did not suffice for all of a step that a dead process has begun, the rest of it may be there as well.
    const mayFollow = action.kind === 'step' && again && count < items.length;
    const done = mayFollow
      ? { $set: { cursor: next, begun: read } }
      : ({ $set: { cursor: next }, $unset: { begun: '' } } as const);
    return (await batches.readings.renew(reading, done)) ?? 'over';
  }

  /** Writes fewer rows where the quota does not suffice for all, so that it is used to its end. */
  async #writeFitting(step: RowStep) {
    let { items } = step;
    for (;;) {
      try {
        return await writeRows(this.#deps, { ...step, items });
      } catch (error) {
        if (!passes(error) || items.length === 1) throw error;
        items = items.slice(0, Math.floor(items.length / 2));
      }
    }
  }

  async #countFaults(batch: Batch, first: number, ends: ReadonlyMap<number, ItemEnd>): Promise<void> {
    const { batches, onFinished } = this.#deps;
    const chunk = Math.floor(first / batch.chunkSize);
    const counted = await batches.count(batch._id, chunk, ends, undefined);
    if (counted !== undefined && hasFinished(counted)) await onFinished(counted);
  }

  /** @param limit undefined for the most that a step may have had. */
  async #rowsFrom(batch: Batch, reading: Reading, limit?: number): Promise<Row[]> {
    const { files } = this.#deps;
    const cursor = reading.cursor!;
    const most = Math.min(limit ?? STEP_ROWS, batch.chunkSize - (cursor.row % batch.chunkSize));
    const file = await this.#fileOf(reading);
    const found: Row[] = [];
    for await (const row of rowsOf(files.read(file, cursor.offset), reading.format!, cursor)) {
      found.push(row);
      if (found.length >= most) break;
    }
    return found;
  }

  async #part(batch: Batch, part: number): Promise<string> {
    const text = await this.#deps.store.inputs.chunkText(chunkIds(batch._id, part + 1)[part]!);
    if (text === undefined) throw new Error(`Part ${part} of the batch ${batch._id} is not kept.`);
    return text;
  }

  /** Ends the reading before the end of the file. */
  async #cut(
    batch: Batch,
    reading: Reading,
    error: SourceProblem | undefined,
    cancels: boolean,
  ): Promise<Reading | 'over'> {
    const cut = await this.#deps.sourced.cut(batch._id, reading.cursor?.row ?? 0, error, cancels);
    return cut === undefined ? reading : this.#done(cut, reading);
  }

  /** The file is not needed any more. Repeated after a crash, this does the rest. */
  async #done(batch: Batch, reading: Reading): Promise<'over'> {
    const { batches, files, reconciler, onFinished } = this.#deps;
    if (!hasFinished(batch) && batch.busy) {
      await batches.scheduleCancel(batch._id);
      reconciler.begin(batch);
    }
    const ended = pendingOf(batch) === 0 ? await batches.end(batch) : batch;
    if (hasFinished(ended)) await onFinished(ended);
    await files.delete({ _id: reading.order.fileId, accountId: batch.accountId });
    await batches.readings.remove(reading);
    return 'over';
  }

  async #rest(reading: Reading, seen: Batch, ms: number): Promise<void> {
    const { batches, clock } = this.#deps;
    const { _id } = reading;
    await batches.readings.rest(reading, new Date(clock.now().getTime() + ms));
    // The owner may have decided something meanwhile, and has left it to the process that was reading.
    const present = await batches.find(_id);
    if (decided(seen) !== decided(present)) await batches.readings.poke(_id);
  }

  async #withoutBatch(reading: Reading): Promise<void> {
    const { batches, clock, logger } = this.#deps;
    const isYoung = clock.now().getTime() - reading.createdAt.getTime() < YOUNG_MS;
    if (isYoung)
      return void (await batches.readings.rest(reading, new Date(clock.now().getTime() + AGAIN_MS)));
    logger.warn({ batchId: reading._id }, 'a batch was never accepted');
    await batches.readings.remove(reading);
  }
}

/** What an owner decides about a batch. */
function decided(batch: Batch | undefined): string {
  const { pausedAt, releasedAt } = batch?.source ?? {};
  return JSON.stringify([batch?.cancelledAt, pausedAt, releasedAt]);
}
