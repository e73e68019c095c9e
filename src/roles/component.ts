import type { BrowserStatus } from '../chromium/renderer.ts';

/** Something that a process runs until it is told to stop. */
export interface Component {
  /** Stops taking work, ends what is under way within the grace time, and lets go of everything. */
  stop(): Promise<void>;
  /** What keeps it from taking work; empty when it is ready. */
  problems(): Promise<string[]> | string[];
  /** The browser that it renders with, if it does. */
  readonly browser?: BrowserStatus;
  /** Why it no longer makes progress, or undefined. */
  stuck(): string | undefined;
}

/** What has to be closed when a process stops, or when it could not be started to the end: last opened, first closed. */
export class Closers {
  readonly #closers: (() => Promise<void>)[] = [];

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  async closeAll(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}
