/** Names that are counted. */
const MAX_NAMES = 10_000;
/** Missing names with a warning of their own; more than these have one together. */
const MAX_SINGLE = 10;
const MAX_REMARKS = 20;
const MAX_NAME_CHARS = 100;

/** The warnings of one render of a template, bounded while they grow. */
export class Notes {
  readonly #missing = new Set<string>();
  readonly #remarks = new Set<string>();

  addMissing(name: string): void {
    if (this.#missing.size <= MAX_NAMES) this.#missing.add(name.slice(0, MAX_NAME_CHARS));
  }

  addRemark(text: string): void {
    if (this.#remarks.size < MAX_REMARKS) this.#remarks.add(text);
  }

  get warnings(): string[] {
    const names = [...this.#missing];
    const remarks = [...this.#remarks];
    if (names.length <= MAX_SINGLE) return [...names.map(missingName), ...remarks];
    const count = names.length > MAX_NAMES ? `more than ${MAX_NAMES}` : names.length;
    const some = names.slice(0, MAX_SINGLE).join(', ');
    return [`${count} names of the template are not in the data, among them ${some}`, ...remarks];
  }
}

/** Says that a template names what its data do not have. */
export function missingName(name: string): string {
  return `${name} is not in the data of the template`;
}
