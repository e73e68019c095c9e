/** Gives out file names of which no two are the same, not even where a file system takes no notice of case. */
export class UniqueNames {
  readonly #taken = new Set<string>();
  /** By name: the number that its next copy is tried under. */
  readonly #next = new Map<string, number>();

  /**
   * The name itself the first time, then `name (2).pdf` and so on. The same names asked for in the same order give the
   * same results.
   *
   * @param wanted a safe name with an extension.
   */
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
