import type { KubeObject } from '../../../src/infra/kube/client/kube-object.ts';
import { KubernetesError } from '../../../src/infra/kube/kubernetes-error.ts';
import type { LeaseApi } from '../../../src/infra/kube/leader/lease.ts';
import type { ManualTimers } from '../manual-timers.ts';

type Options = { readonly deadlineMs?: number | undefined } | undefined;

/** One Lease under optimistic locking, and for each candidate a way to it that can be cut. */
export class LeaseServer {
  #lease: KubeObject | undefined;
  #version = 0;
  /** Candidates whose requests do not arrive. */
  readonly cutOff = new Set<string>();
  /** Candidates whose requests arrive, but not the responses to them. */
  readonly unanswered = new Set<string>();
  /** The holders of the Lease, one after the other; empty for a release. */
  readonly holders: string[] = [];

  connect(candidate: string, timers: ManualTimers): LeaseApi {
    const call = async <R>(options: Options, carryOut: () => R): Promise<R> => {
      const response = this.cutOff.has(candidate) ? undefined : { is: carryOut() };
      if (response !== undefined && !this.unanswered.has(candidate)) return response.is;
      await new Promise<void>((resolve) => timers.after(options?.deadlineMs ?? 0, resolve));
      throw new KubernetesError('no answer', { status: 0, reason: 'DeadlineExceeded' });
    };
    return {
      get: <T extends KubeObject>(_kind: unknown, _ref: unknown, options?: Options) =>
        call(options, () => structuredClone(this.#lease) as T | undefined),
      create: <T extends KubeObject>(_kind: unknown, object: unknown, options?: Options) =>
        call(options, () => {
          if (this.#lease !== undefined) throw conflict('AlreadyExists');
          return this.#store(object as T);
        }),
      replace: <T extends KubeObject>(_kind: unknown, object: T, options?: Options) =>
        call(options, () => {
          const version = this.#lease?.metadata.resourceVersion;
          if (version !== object.metadata.resourceVersion) throw conflict('Conflict');
          return this.#store(object);
        }),
    };
  }

  #store<T extends KubeObject>(object: T): T {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored = structuredClone({ ...object, metadata });
    this.#lease = stored;
    const { spec } = stored as { spec?: { holderIdentity?: string } };
    if (this.holders.at(-1) !== spec?.holderIdentity) this.holders.push(spec?.holderIdentity ?? '');
    return structuredClone(stored);
  }
}

function conflict(reason: string): KubernetesError {
  return new KubernetesError('somebody was faster', { status: 409, reason });
}
