import { Context, Drop, type Liquid } from 'liquidjs';
import { missingName } from './notes.ts';
import { Opaque } from './opaque.ts';
import { globalsWith, type Terms } from './terms.ts';

type Path = Parameters<Context['_getFromScope']>[1];
type Properties = Parameters<Context['readProperty']>;
type Options = NonNullable<ConstructorParameters<typeof Context>[2]>;

/** The variables of one render. It notices names that the data do not have. */
export class DocumentContext extends Context {
  readonly #terms: Terms;
  /** Whether anybody wants to know of names that are missing. */
  readonly #watches: boolean;
  /** The conditions and the filters `default` that are being evaluated: they ask whether a name is there. */
  #asking = 0;

  constructor(data: object, liquid: Liquid, options: Options, terms: Terms) {
    const { locale = liquid.options.locale, timezone = liquid.options.timezoneOffset } = terms;
    const opts = { ...liquid.options, locale, timezoneOffset: timezone };
    super(data, opts, { ...options, sync: true, globals: globalsWith(terms) }, { liquid });
    this.#terms = terms;
    this.#watches = terms.strict || terms.notes !== undefined;
  }

  /** Evaluates what may name a variable that is not there. */
  asking<Result>(evaluation: Generator<unknown, Result>): Generator<unknown, Result> {
    return this.#watches ? this.#evaluateAsking(evaluation) : evaluation;
  }

  /** @throws Error for a name that is not there, in a strict render. */
  override _getFromScope(scope: unknown, paths: Path, watched = true): IterableIterator<unknown> {
    // Most renders watch nothing, and read every variable by this.
    if (!this.#watches || !watched) return super._getFromScope(scope, paths, false);
    return this.#watchedRead(scope, typeof paths === 'string' ? paths.split('.') : paths);
  }

  /** Numbers and texts of Platen's own have no properties for templates. */
  override readProperty(value: Properties[0], key: Properties[1]): unknown {
    if (value instanceof Opaque) return key === 'size' ? value.length : undefined;
    return super.readProperty(value, key);
  }

  *#evaluateAsking<Result>(evaluation: Generator<unknown, Result>): Generator<unknown, Result> {
    this.#asking += 1;
    try {
      return yield* evaluation;
    } finally {
      this.#asking -= 1;
    }
  }

  *#watchedRead(scope: unknown, path: Exclude<Path, string>): Generator<unknown, unknown> {
    const value: unknown = yield super._getFromScope(scope, path, false);
    if (value === undefined && this.#asking === 0) this.#noteMissing(yield* this.#missingPart(scope, path));
    return value;
  }

  /** The path as far as to the first name that is missing. */
  *#missingPart(scope: unknown, path: Exclude<Path, string>): Generator<unknown, string> {
    let length = 1;
    for (; length < path.length; length += 1) {
      if ((yield super._getFromScope(scope, path.slice(0, length), false)) === undefined) break;
    }
    return path
      .slice(0, length)
      .map((part) => (part instanceof Drop ? String(part.valueOf()) : part))
      .join('.');
  }

  #noteMissing(name: string): void {
    if (this.#terms.strict) throw new Error(missingName(name));
    this.#terms.notes?.addMissing(name);
  }
}
