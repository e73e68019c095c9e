import type { Clock } from '../../infra/clock.ts';
import { periodDays, periodStart, type ReportPeriod } from '../../tenants/usage/periods.ts';
import type { Ledger } from '../jobs/ledger/ledger.ts';
import { type Batch, hasFinished, isItemOf, pendingOf, totalsOf } from './batch.ts';
import { statusOf } from './batch-record.ts';
import type { BatchStore } from './batch-store.ts';

/** The API's names for some error codes of items. */
const SHOWN_AS: Readonly<Record<string, string>> = {
  RENDER_TIMEOUT: 'TIMEOUT',
  SELECTOR_TIMEOUT: 'TIMEOUT',
  CONDITION_TIMEOUT: 'TIMEOUT',
};
const MOST_REASONS = 10;

/**
 * Statistics over all batches of an account. Batches count their items as these end, so a report reads only the records
 * of the batches, one page at a time.
 */
export class BatchMetrics {
  readonly #batches: BatchStore;
  readonly #ledger: Pick<Ledger, 'find'>;
  readonly #clock: Clock;

  constructor(deps: { batches: BatchStore; ledger: Pick<Ledger, 'find'>; clock: Clock }) {
    this.#batches = deps.batches;
    this.#ledger = deps.ledger;
    this.#clock = deps.clock;
  }

  /** @param period of the batches that rates and averages are of; all running batches count as active. */
  async report(accountId: string, period: ReportPeriod) {
    const now = this.#clock.now();
    const sums = new Sums();
    for await (const batch of this.#batches.since(accountId, periodStart(period, now))) sums.add(batch);
    return {
      ...(await this.#active(accountId)),
      ...sums.report(),
      lookbackDays: periodDays(period),
      generatedAt: now.toISOString(),
    };
  }

  async #active(accountId: string) {
    const [running, record] = await Promise.all([
      this.#batches.running(accountId),
      this.#ledger.find(accountId),
    ]);
    const holders = Object.keys(record?.holders ?? {});
    let queueDepth = 0;
    let queuedBatches = 0;
    let processingBatches = 0;
    for (const batch of running) {
      const inFlight = holders.filter((jobId) => isItemOf(batch, jobId)).length;
      const status = statusOf({ batch, inFlight });
      if (status === 'cancelled') continue;
      queueDepth += Math.max(0, pendingOf(batch) - inFlight);
      if (status === 'queued') queuedBatches += 1;
      else processingBatches += 1;
    }
    const activeBatches = queuedBatches + processingBatches;
    return { queueDepth, activeBatches, queuedBatches, processingBatches };
  }
}

class Sums {
  #batches = 0;
  #items = 0;
  #finished = 0;
  #completed = 0;
  #completedItems = 0;
  #failedItems = 0;
  #timed = 0;
  #timeMs = 0;
  #callbacks = 0;
  #delivered = 0;
  readonly #codes = new Map<string, number>();

  add(batch: Batch): void {
    this.#batches += 1;
    this.#items += batch.total;
    const { completed, codes } = totalsOf(batch);
    this.#completedItems += completed;
    for (const [code, count] of Object.entries(codes)) {
      // An item that its owner cancelled has not failed.
      if (code === 'CANCELLED') continue;
      this.#failedItems += count;
      const shown = SHOWN_AS[code] ?? code;
      this.#codes.set(shown, (this.#codes.get(shown) ?? 0) + count);
    }
    if (batch.callback !== undefined) this.#callbacks += 1;
    if (batch.callback === 'delivered') this.#delivered += 1;
    if (!hasFinished(batch)) return;
    this.#finished += 1;
    if (batch.phase === 'completed') this.#completed += 1;
    if (batch.startedAt === undefined || batch.finishedAt === null) return;
    this.#timed += 1;
    this.#timeMs += Math.max(0, batch.finishedAt.getTime() - batch.startedAt.getTime());
  }

  report() {
    const eligible = this.#completedItems + this.#failedItems;
    return {
      completionRatePercent: percent(this.#completed, this.#finished),
      itemSuccessRatePercent: percent(this.#completedItems, eligible),
      itemEligibleCount: eligible,
      webhookSuccessRatePercent: percent(this.#delivered, this.#callbacks),
      webhookEligibleCount: this.#callbacks,
      webhookDeliveredCount: this.#delivered,
      averageItemsPerBatch: average(this.#items, this.#batches),
      averageBatchProcessingTimeMs: average(this.#timeMs, this.#timed),
      commonFailureReasons: [...this.#codes]
        .map(([code, count]) => ({ code, count }))
        .sort((a, b) => b.count - a.count || a.code.localeCompare(b.code))
        .slice(0, MOST_REASONS),
    };
  }
}

/** Rounded to one decimal; 0 when `count` is 0. */
function average(sum: number, count: number): number {
  return count === 0 ? 0 : Math.round((10 * sum) / count) / 10;
}

function percent(part: number, whole: number): number {
  return average(100 * part, whole);
}
