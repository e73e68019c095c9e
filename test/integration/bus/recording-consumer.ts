import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { JobClass, JobPointer, PointerConsumer, Slot } from '../../../src/infra/bus/bus.ts';
import { HUNG_MS } from '../../support/eventually.ts';

/** A consumer with a number of slots for each class, which records pointers and releases slots on demand. */
export class RecordingConsumer implements PointerConsumer {
  readonly worker = randomUUID();
  readonly accepted: JobPointer[] = [];
  /** Runs within each acceptance. */
  onAccept: (pointer: JobPointer) => Promise<void> | void = () => {};
  readonly #free: Record<JobClass, number>;
  readonly #waiting: Record<JobClass, ((slot: Slot) => void)[]> = { interactive: [], bulk: [] };
  readonly #changes = new EventEmitter();

  constructor(slots: Partial<Record<JobClass, number>> = {}) {
    this.#free = { interactive: slots.interactive ?? 1000, bulk: slots.bulk ?? 1000 };
  }

  reserve(jobClass: JobClass, signal: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const grant = (slot: Slot) => {
        signal.removeEventListener('abort', giveUp);
        resolve(slot);
      };
      const giveUp = () => {
        this.#waiting[jobClass].splice(this.#waiting[jobClass].indexOf(grant), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting[jobClass].push(grant);
      this.#changes.emit('change');
      this.free(jobClass, 0);
    });
  }

  async accept(pointer: JobPointer, _slot: Slot): Promise<void> {
    await this.onAccept(pointer);
    this.accepted.push(pointer);
    this.#changes.emit('change');
  }

  /** Offers more slots. */
  free(jobClass: JobClass, slots: number): void {
    this.#free[jobClass] += slots;
    while (this.#free[jobClass] > 0 && this.#waiting[jobClass].length > 0) {
      this.#free[jobClass] -= 1;
      let held = true;
      this.#waiting[jobClass].shift()!({
        release: () => {
          if (held) this.free(jobClass, 1);
          held = false;
        },
      });
    }
  }

  get slotsFree(): number {
    return this.#free.interactive + this.#free.bulk;
  }

  /** How many reservations of a class wait for a slot. */
  waiting(jobClass: JobClass): number {
    return this.#waiting[jobClass].length;
  }

  /** Ids of the jobs accepted, each once, in order of their names. */
  ids(): string[] {
    return [...new Set(this.accepted.map(({ jobId }) => jobId))].sort();
  }

  /** Resolves when something holds that only a reservation or an acceptance can bring about. */
  async until(holds: () => boolean, limitMs = HUNG_MS): Promise<void> {
    const signal = AbortSignal.timeout(limitMs);
    while (!holds()) await once(this.#changes, 'change', { signal });
  }
}
