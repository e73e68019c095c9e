import type { BrowserStatus } from '../../render/renderer.ts';

/** Something that a process runs until it is stopped. */
export interface Component {
  /** Stops taking work, ends what is under way within the grace time, and releases all resources. */
  stop(): Promise<void>;
  /** The problems that keep it from taking work; empty when it is ready. */
  problems(): Promise<string[]> | string[];
  readonly browser?: BrowserStatus;
  /** Why it no longer makes progress, or undefined. */
  stuck(): string | undefined;
}

/** Resources to close when a process stops or its start fails, in the reverse order of their opening. */
export class Closers {
  readonly #closers: (() => Promise<void>)[] = [];

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  async closeAll(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}
