import type { Informer } from '../infra/kube/client/informer.ts';
import type { KubeObject } from '../infra/kube/client/kube-object.ts';
import { KubernetesError } from '../infra/kube/kubernetes-error.ts';

/** Statuses that an early repetition will not change: credentials, rights or definitions are missing. */
const REJECTIONS: ReadonlySet<number> = new Set([401, 403, 404]);

type Watcher = Pick<Informer<KubeObject>, 'stateOf'>;

/**
 * The state of each watched namespace. One that cannot be read is left as it is, whatever is known of it, and holds up
 * none of the others; its informers try again for ever.
 *
 * A namespace is unreadable when some kind of object has not been listed yet, and when the API server rejects a kind. A
 * namespace that was listed and does not respond at the moment keeps its state.
 */
export class WatchedNamespaces {
  readonly #names: readonly string[];
  readonly #watchers: ReadonlyMap<string, Watcher>;
  readonly #onChange: (namespace: string) => void;
  readonly #known = new Map<string, string | undefined>();
  readonly #settled = Promise.withResolvers<void>();

  /**
   * @param watchers the informers by kind.
   * @param onChange called when a namespace has become readable, or unreadable, or unreadable for another reason.
   */
  constructor(
    names: readonly string[],
    watchers: ReadonlyMap<string, Watcher>,
    onChange: (namespace: string) => void,
  ) {
    this.#names = names;
    this.#watchers = watchers;
    this.#onChange = onChange;
  }

  /** To be called when the state of an informer has changed. */
  check(namespace: string): void {
    if (this.#names.every((name) => this.#isSettled(name))) this.#settled.resolve();
    // Until every kind has had its first response, a missing list is only on its way.
    if (!this.#isSettled(namespace)) return;
    const problem = this.problem(namespace);
    if (this.#known.has(namespace) && this.#known.get(namespace) === problem) return;
    this.#known.set(namespace, problem);
    this.#onChange(namespace);
  }

  /** Resolves when every namespace has been read, or could not be: then it is known which ones to leave alone. */
  whenSettled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Why a namespace is unreadable: the kinds, and the API server's message; undefined when it is readable. */
  problem(namespace: string): string | undefined {
    const unread = [...this.#watchers]
      .map(([kind, watcher]) => ({ kind, ...watcher.stateOf(namespace) }))
      .filter(({ listed, trouble }) => !listed || isRejection(trouble));
    if (unread.length === 0) return undefined;
    const error = unread.find(({ trouble }) => trouble !== undefined)?.trouble;
    const why = error === undefined ? 'not listed yet' : (error as Error).message;
    return `${unread.map(({ kind }) => kind).join(', ')}: ${why}`;
  }

  /** The reason for each unreadable namespace, by its name. */
  problems(): ReadonlyMap<string, string> {
    const found = this.#names.map((name) => [name, this.problem(name)] as const);
    return new Map(found.flatMap(([name, problem]) => (problem === undefined ? [] : [[name, problem]])));
  }

  #isSettled(namespace: string): boolean {
    return [...this.#watchers.values()].every((watcher) => {
      const { listed, trouble } = watcher.stateOf(namespace);
      return listed || trouble !== undefined;
    });
  }
}

function isRejection(trouble: unknown): boolean {
  return trouble instanceof KubernetesError && REJECTIONS.has(trouble.status);
}
