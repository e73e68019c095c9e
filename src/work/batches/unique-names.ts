/** Makes file names unique, also on file systems that ignore case. */
export class UniqueNames {
  readonly #taken = new Set<string>();
  /** By name: the number to try for its next copy. */
  readonly #next = new Map<string, number>();

  /** The name, then `name (2).pdf` and so on, the same for the same order. @param wanted safe, with an extension. */
  take(wanted: string): string {
    const key = keyOf(wanted);
    const dot = wanted.lastIndexOf('.');
    let name = wanted;
    let number = this.#next.get(key) ?? 2;
    while (this.#taken.has(keyOf(name))) {
      name = `${wanted.slice(0, dot)} (${number})${wanted.slice(dot)}`;
      number += 1;
    }
    this.#taken.add(keyOf(name));
    this.#next.set(key, number);
    return name;
  }
}

function keyOf(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
