import { LRUCache } from 'lru-cache';

/** Parsed templates by their source, least recently used first out; bounded in number and in characters of source. */
export class ParsedTemplates<Parsed extends object | string> {
  readonly #entries: LRUCache<string, Parsed>;

  constructor(maxEntries: number, maxChars: number) {
    this.#entries = new LRUCache({
      max: maxEntries,
      maxSize: maxChars,
      // The library takes no entry without a size.
      sizeCalculation: (_parsed, source) => Math.max(1, source.length),
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The result of `parse` for this source, now or earlier. Its errors are not kept. */
  get(source: string, parse: () => Parsed): Parsed {
    const known = this.#entries.get(source);
    if (known !== undefined) return known;
    const parsed = parse();
    this.#entries.set(source, parsed);
    return parsed;
  }
}
