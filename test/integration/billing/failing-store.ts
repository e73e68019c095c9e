import { mongo } from 'mongoose';

const WRITES = [
  ...(['insertOne', 'insertMany', 'updateOne', 'updateMany', 'findOneAndUpdate'] as const),
  ...(['bulkWrite', 'deleteOne', 'deleteMany'] as const),
];

/** The error of a failed write. */
export class StoreFailed extends Error {}

/**
 * Has one write of this process fail, to whichever of some collections it is: the driver rejects it, before it was sent or
 * after it was done.
 */
export class FailingStore {
  readonly #collections: readonly string[];
  readonly #before = new Map<string, unknown>();
  #left: number | undefined;
  #when: 'before' | 'after' = 'before';

  constructor(collections: readonly string[]) {
    this.#collections = collections;
    const { prototype } = mongo.Collection;
    for (const name of WRITES) {
      const write: unknown = Reflect.get(prototype, name);
      if (typeof write !== 'function') throw new Error(`There is no ${name}.`);
      this.#before.set(name, write);
      const meets = (collection: string) => this.#meets(collection);
      const when = () => this.#when;
      Reflect.set(prototype, name, async function (this: mongo.Collection, ...args: unknown[]) {
        if (!meets(this.collectionName)) return Reflect.apply(write, this, args);
        if (when() === 'after') await Reflect.apply(write, this, args);
        throw new StoreFailed(`${name} of ${this.collectionName}`);
      });
    }
  }

  /** The `nth` write from now on fails, 1 being the next. */
  failAt(nth: number, when: 'before' | 'after'): void {
    this.#left = nth;
    this.#when = when;
  }

  /** No write fails any more. @returns whether one did. */
  heal(): boolean {
    const failed = this.#left === 0;
    this.#left = undefined;
    return failed;
  }

  /** Leaves the driver as it was. */
  restore(): void {
    for (const [name, write] of this.#before) Reflect.set(mongo.Collection.prototype, name, write);
  }

  #meets(collection: string): boolean {
    if (this.#left === undefined || this.#left === 0 || !this.#collections.includes(collection)) return false;
    this.#left -= 1;
    return this.#left === 0;
  }
}
