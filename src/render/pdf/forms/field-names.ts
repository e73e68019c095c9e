/** Characters of one part of a name, and parts of a name. */
const MAX_PART = 200;
const MAX_PARTS = 8;
/** The field of a seal. */
const RESERVED = 'Seal';

/**
 * Gives each field of a document a name of its own (ISO 32000-1, 12.7.3.2). A full stop leads from a field to one below it:
 * `person.name` is the field `name` of `person`. It becomes `_` where one of both would be nothing, or a field already.
 */
export class FieldNames {
  /** Names of fields, and of what has fields below it. */
  readonly #fields = new Set<string>();
  readonly #groups = new Set<string>();

  /** @param wanted any text. @returns the parts of the name. */
  unique(wanted: string): readonly string[] {
    const name = clean(wanted) || 'field';
    for (let i = 1; ; i += 1) {
      const numbered = i === 1 ? name : `${name}_${i}`;
      for (const parts of [numbered.split('.'), [numbered.replaceAll('.', '_')]]) {
        if (!this.#isFree(parts)) continue;
        this.#take(parts);
        return parts;
      }
    }
  }

  #isFree(parts: readonly string[]): boolean {
    if (parts.length > MAX_PARTS || parts.some((part) => part === '') || parts[0] === RESERVED) return false;
    const above = parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('.'));
    const whole = parts.join('.');
    return (
      !this.#fields.has(whole) && !this.#groups.has(whole) && !above.some((each) => this.#fields.has(each))
    );
  }

  #take(parts: readonly string[]): void {
    this.#fields.add(parts.join('.'));
    for (let i = 1; i < parts.length; i += 1) this.#groups.add(parts.slice(0, i).join('.'));
  }
}

/** Without characters that cannot be seen, and halves of characters. */
function clean(name: string): string {
  return name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]+/gu, ' ')
    .replace(/ +/g, ' ')
    .slice(0, MAX_PART)
    .toWellFormed()
    .trim();
}
