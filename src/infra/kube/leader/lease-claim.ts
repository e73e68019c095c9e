import { isDeepStrictEqual } from 'node:util';
import type { Timers } from '../../async/timers.ts';
import type { Clock } from '../../clock.ts';
import { microTime } from '../client/micro-time.ts';
import { isConflict, isNotFound } from '../kubernetes-error.ts';
import { LEASES, type Lease, type LeaseApi, type LeaseSpec } from './lease.ts';

export interface LeaseClaimOptions {
  readonly api: LeaseApi;
  readonly namespace: string;
  /** The name of the Lease. */
  readonly name: string;
  /** Different for every process, also for one that replaces another in the same pod. */
  readonly identity: string;
  /**
   * The prefix of the identities of this process's predecessors, of which at most one runs at a time: a Lease that one
   * of them left behind is free, and is not waited for.
   */
  readonly predecessors?: string;
  readonly leaseMs: number;
  readonly timers: Timers;
  readonly clock: Clock;
}

/** A candidate's copy of a Lease, and its writes: one succeeds only if nobody has written since the last read. */
export class LeaseClaim {
  readonly #options: LeaseClaimOptions;
  #seen: Lease | undefined;
  /** When the spec was last seen to change, on the own clock. */
  #changedAtMs = 0;

  constructor(options: LeaseClaimOptions) {
    this.#options = options;
  }

  /** The identity that holds the Lease, as far as is known. */
  get holder(): string | undefined {
    return this.#seen?.spec?.holderIdentity || undefined;
  }

  /**
   * Takes the Lease if it is free or has expired, renews it if it is held.
   *
   * @param deadlineMs for each of its calls, of which there are at most three.
   * @returns false when another candidate has it.
   * @throws KubernetesError when that could not be determined.
   */
  async hold(deadlineMs: number): Promise<boolean> {
    // The holder has read it last: one write will do, unless the response to an earlier one was lost.
    if (this.holder === this.#options.identity && (await this.#write(this.#seen, deadlineMs))) return true;
    this.#note(await this.#read(deadlineMs));
    if (this.#isHeldByOther()) return false;
    return this.#write(this.#seen, deadlineMs);
  }

  /** @throws KubernetesError */
  async release(deadlineMs: number): Promise<void> {
    if (this.#seen === undefined || this.holder !== this.#options.identity) return;
    // Without a holder, and short, for candidates that go by its time alone.
    const spec = { ...this.#seen.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#now() };
    try {
      this.#note(await this.#options.api.replace(LEASES, { ...this.#seen, spec }, { deadlineMs }));
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }

  /** @returns false when another candidate was faster. */
  async #write(before: Lease | undefined, deadlineMs: number): Promise<boolean> {
    const { api, namespace, name } = this.#options;
    const spec = this.#claimed(before?.spec);
    try {
      const written =
        before === undefined
          ? await api.create(
              LEASES,
              { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec },
              { deadlineMs },
            )
          : await api.replace(LEASES, { ...before, spec }, { deadlineMs });
      this.#note(written);
      return true;
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  #claimed(before: LeaseSpec | undefined): LeaseSpec {
    const { identity, leaseMs } = this.#options;
    const isOwn = before?.holderIdentity === identity;
    const now = this.#now();
    return {
      ...before,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      acquireTime: isOwn ? (before?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (isOwn || before === undefined ? 0 : 1),
    };
  }

  #read(deadlineMs: number): Promise<Lease | undefined> {
    const { api, namespace, name } = this.#options;
    return api.get(LEASES, { namespace, name }, { deadlineMs });
  }

  #note(lease: Lease | undefined): void {
    if (!isDeepStrictEqual(lease?.spec, this.#seen?.spec)) this.#changedAtMs = this.#options.timers.nowMs();
    this.#seen = lease;
  }

  #isHeldByOther(): boolean {
    const { holder } = this;
    const { identity, predecessors } = this.#options;
    if (holder === undefined || holder === identity) return false;
    if (predecessors !== undefined && holder.startsWith(predecessors)) return false;
    // The duration that its holder has set, which may be of another version with other times than ours.
    const leaseMs = (this.#seen?.spec?.leaseDurationSeconds ?? 0) * 1000 || this.#options.leaseMs;
    return this.#options.timers.nowMs() < this.#changedAtMs + leaseMs;
  }

  #now(): string {
    return microTime(this.#options.clock.now());
  }
}
