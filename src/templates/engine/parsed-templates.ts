/** Parsed templates by their source, least recently used first out; bounded in number and in characters of source. */
export class ParsedTemplates<Parsed> {
  private readonly entries = new Map<string, Parsed>();
  private readonly maxEntries: number;
  private readonly maxChars: number;
  private chars = 0;

  constructor(maxEntries: number, maxChars: number) {
    this.maxEntries = maxEntries;
    this.maxChars = maxChars;
  }

  get size(): number {
    return this.entries.size;
  }

  /** What `parse` made of this source, now or earlier. What `parse` throws is not kept. */
  get(source: string, parse: () => Parsed): Parsed {
    const known = this.entries.get(source);
    if (known !== undefined) {
      this.entries.delete(source);
      this.entries.set(source, known);
      return known;
    }
    const parsed = parse();
    this.entries.set(source, parsed);
    this.chars += source.length;
    this.evict();
    return parsed;
  }

  private evict(): void {
    for (const source of this.entries.keys()) {
      if (this.entries.size <= this.maxEntries && this.chars <= this.maxChars) return;
      this.entries.delete(source);
      this.chars -= source.length;
    }
  }
}
