/** One of the parts a role is made of. */
export interface Part {
  /** Stops taking work, ends what is under way within the grace time, and lets go of everything. */
  stop(): Promise<void>;
  /** What keeps the part from taking work; empty when it is ready. */
  problems(): Promise<string[]> | string[];
  /** Why the part no longer makes progress, or undefined. */
  stuck(): string | undefined;
}
