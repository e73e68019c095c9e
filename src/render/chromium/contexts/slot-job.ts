import type { CancelScope } from '../cancel-scope.ts';
import type { ContextPool } from './context-pool.ts';
import type { ContextNeeds, RenderContext } from './render-context.ts';

/** Renders in a leased context; resolves to whether the context is clean and may be used again. */
export type RenderWork = (context: RenderContext) => Promise<boolean>;

/** The part of the pool of contexts that slots use. */
export type ContextLender = Pick<ContextPool, 'lease' | 'keep' | 'discard'>;

/**
 * One render in a slot: a context is leased, the document is rendered, and the context is given back. An error in one
 * of these steps is kept until the last and then rejects `done`; the steps themselves never reject.
 */
export class SlotJob {
  readonly end: CancelScope;
  readonly #needs: ContextNeeds;
  readonly #work: RenderWork;
  readonly #contexts: ContextLender;
  readonly #done = Promise.withResolvers<void>();
  #context: RenderContext | undefined;
  #clean = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(needs: ContextNeeds, end: CancelScope, work: RenderWork, contexts: ContextLender) {
    this.end = end;
    this.#needs = needs;
    this.#work = work;
    this.#contexts = contexts;
  }

  /** Settles once `finish` has been called. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  async lease(): Promise<void> {
    await this.#try(async () => {
      // A render that has ended while it waited for its slot must not take a warm context.
      this.end.signal.throwIfAborted();
      this.#context = await this.#contexts.lease(this.#needs, this.end);
    });
  }

  async render(): Promise<void> {
    const context = this.#context;
    if (!context) return;
    await this.#try(async () => {
      this.#clean = await this.#work(context);
    });
  }

  async giveBack(): Promise<void> {
    const context = this.#context;
    if (!context) return;
    this.#context = undefined;
    await this.#try(() => (this.#clean ? this.#contexts.keep(context) : this.#contexts.discard(context)));
  }

  /** Settles `done`: nothing of the render is left in the browser. */
  finish(): void {
    if (this.#failure) this.#done.reject(this.#failure.error);
    else this.#done.resolve();
  }

  /** Removes the render from the queue for a slot. */
  giveUp(): void {
    this.#failure = { error: this.end.error };
    this.finish();
  }

  async #try(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#failure ??= { error };
    }
  }
}
