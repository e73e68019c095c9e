/** Sentences of each kind that are kept. */
const MAX_FINDINGS = 50;

/** What keeps a PDF from its conformance, in words that follow "The PDF": each once. */
export class ArchiveFindings {
  readonly #mended = new Set<string>();
  readonly #broken = new Set<string>();
  readonly #faults = new Set<string>();

  /** Notes what was mended: it changes nothing that is seen. */
  mended(what: string): void {
    this.removed(what);
    if (this.#broken.size < MAX_FINDINGS) this.#broken.add(what);
  }

  /** Notes what was taken away since it may break a rule, and may not. */
  removed(what: string): void {
    if (this.#mended.size < MAX_FINDINGS) this.#mended.add(what);
  }

  /** Notes what only the author of the document can mend. */
  fault(what: string): void {
    if (this.#faults.size < MAX_FINDINGS) this.#faults.add(what);
  }

  get repairs(): string[] {
    return [...this.#mended];
  }

  /** All that breaks a rule, as it was before it was mended. */
  get violations(): string[] {
    return [...[...this.#broken].map((what) => `what had to be mended: ${what}`), ...this.#faults];
  }

  get faults(): string[] {
    return [...this.#faults];
  }
}
