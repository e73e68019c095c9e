import { Drop } from 'liquidjs';

/** A value of a template that prints as its `valueOf`, and whose properties no template can name. */
export abstract class Opaque extends Drop {
  abstract override valueOf(): unknown;

  /** For the filter `size`. */
  get length(): number | undefined {
    const value = this.valueOf();
    return typeof value === 'string' ? value.length : undefined;
  }
}
