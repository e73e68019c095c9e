import type { Informer } from '../../infra/kube/client/informer.ts';
import { keyOf } from '../../infra/kube/client/kube-object.ts';
import type { Pod } from '../resources/kinds.ts';
import { POOL_LABEL } from './labels.ts';

/** The workers' pods by their pool, so that no caller has to scan all of them. */
export class PodIndex {
  readonly #informer: Informer<Pod>;
  readonly #byPool = new Map<string, Map<string, Pod>>();

  /** @param onChange called with the key of a pool whose pods have changed. */
  constructor(informer: Informer<Pod>, onChange: (poolKey: string) => void) {
    this.#informer = informer;
    informer.onChange((key, now, before) => {
      for (const pod of [before, now]) {
        const pool = pod && poolKeyOf(pod);
        if (pool === undefined) continue;
        this.#set(pool, key, pod === now ? now : undefined);
        onChange(pool);
      }
    });
  }

  ofPool(poolKey: string): readonly Pod[] {
    return [...(this.#byPool.get(poolKey)?.values() ?? [])];
  }

  /** Takes over the object that a write has returned. */
  remember(pod: Pod): void {
    this.#informer.remember(pod);
  }

  #set(pool: string, key: string, pod: Pod | undefined): void {
    const pods = this.#byPool.get(pool) ?? new Map<string, Pod>();
    if (pod === undefined) pods.delete(key);
    else pods.set(key, pod);
    if (pods.size > 0) this.#byPool.set(pool, pods);
    else this.#byPool.delete(pool);
  }
}

function poolKeyOf({ metadata }: Pod): string | undefined {
  const name = metadata.labels?.[POOL_LABEL];
  if (name === undefined) return undefined;
  return keyOf({ name, ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) });
}
