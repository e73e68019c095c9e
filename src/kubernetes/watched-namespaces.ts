import type { Informer } from './client/informer.ts';
import type { KubeObject } from './client/kube-object.ts';
import { KubernetesError } from './client/kubernetes-error.ts';

/** Answers that trying again soon will not change: credentials, rights or definitions are missing. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

type Watcher = Pick<Informer<KubeObject>, 'stateOf'>;

/**
 * How it stands with each watched namespace. One that cannot be read is left as it is, whatever may be known of it, and holds
 * up none of the others; its informers try again for ever.
 *
 * A namespace is unreadable when some kind of object has not been listed yet, and when the API server refuses a kind. One that
 * was listed and does not answer at the moment is as it was.
 */
export class WatchedNamespaces {
  readonly #names: readonly string[];
  readonly #watchers: ReadonlyMap<string, Watcher>;
  readonly #onChange: (namespace: string) => void;
  readonly #known = new Map<string, string | undefined>();
  readonly #settled = Promise.withResolvers<void>();

  /**
   * @param watchers by kind.
   * @param onChange told when a namespace has become readable, or unreadable, or for another reason than before.
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
  look(namespace: string): void {
    if (this.#names.every((name) => this.#isSettled(name))) this.#settled.resolve();
    // Until every kind has had its first answer, what is missing is only on its way.
    if (!this.#isSettled(namespace)) return;
    const problem = this.problem(namespace);
    if (this.#known.has(namespace) && this.#known.get(namespace) === problem) return;
    this.#known.set(namespace, problem);
    this.#onChange(namespace);
  }

  /** Resolves when every namespace has been read, or could not be: then it is known which are to be left alone. */
  whenSettled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Why a namespace is unreadable: the kinds, and what the API server says; undefined when it is readable. */
  problem(namespace: string): string | undefined {
    const unread = [...this.#watchers]
      .map(([kind, watcher]) => ({ kind, ...watcher.stateOf(namespace) }))
      .filter(({ listed, trouble }) => !listed || isRefusal(trouble));
    if (unread.length === 0) return undefined;
    const said = unread.find(({ trouble }) => trouble !== undefined)?.trouble;
    const why = said === undefined ? 'not listed yet' : (said as Error).message;
    return `${unread.map(({ kind }) => kind).join(', ')}: ${why}`;
  }

  /** Why, by name of namespace, of those that are unreadable. */
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

function isRefusal(trouble: unknown): boolean {
  return trouble instanceof KubernetesError && REFUSALS.has(trouble.status);
}
