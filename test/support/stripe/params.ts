import { invalidRequest } from './api-error.ts';
import type { Metadata } from './records.ts';

export type Tree = { readonly [name: string]: Tree | readonly (Tree | string)[] | string };

/**
 * The parameters of a request. Parameters that are unread at `end` are rejected, so that the stand-in cannot accept a
 * parameter that it does not model; everything is to be read before anything is done.
 */
export class Params {
  readonly #values: Tree;
  readonly #path: string;
  readonly #read = new Set<string>();
  readonly #nested: Params[] = [];

  constructor(values: Tree, path = '') {
    this.#values = values;
    this.#path = path;
  }

  /** The names that were sent. */
  get names(): readonly string[] {
    return Object.keys(this.#values);
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  /** An empty text unsets the field. */
  text(name: string): string | undefined {
    const value = this.#take(name);
    if (value === undefined || typeof value === 'string') return value;
    throw invalidRequest(`Invalid string: ${JSON.stringify(value)}`, undefined, this.#nameOf(name));
  }

  needed(name: string): string {
    const value = this.text(name);
    if (value !== undefined && value !== '') return value;
    const full = this.#nameOf(name);
    throw invalidRequest(`Missing required param: ${full}.`, 'parameter_missing', full);
  }

  integer(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined || value === '') return undefined;
    if (/^-?\d+$/.test(value)) return Number(value);
    throw invalidRequest(`Invalid integer: ${value}`, 'parameter_invalid_integer', this.#nameOf(name));
  }

  flag(name: string): boolean | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (value === 'true' || value === 'false') return value === 'true';
    throw invalidRequest(`Invalid boolean: ${value}`, undefined, this.#nameOf(name));
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.text(name);
    const found = values.find((each) => each === value);
    if (value === undefined || found !== undefined) return found;
    throw invalidRequest(
      `Invalid ${name}: must be one of ${values.join(', ')}`,
      undefined,
      this.#nameOf(name),
    );
  }

  within(name: string): Params | undefined {
    const value = this.#take(name);
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string' || Array.isArray(value))
      throw invalidRequest('Invalid object', undefined, this.#nameOf(name));
    return this.#nest(value as Tree, name);
  }

  each(name: string): readonly Params[] {
    const value = this.#take(name);
    if (value === undefined || value === '') return [];
    if (!Array.isArray(value)) throw invalidRequest('Invalid array', undefined, this.#nameOf(name));
    return value.map((one, index) => {
      if (typeof one === 'string') throw invalidRequest('Invalid object', undefined, this.#nameOf(name));
      return this.#nest(one, `${name}[${index}]`);
    });
  }

  texts(name: string): readonly string[] {
    const value = this.#take(name);
    if (value === undefined || value === '') return [];
    if (!Array.isArray(value) || value.some((one) => typeof one !== 'string'))
      throw invalidRequest('Invalid array', undefined, this.#nameOf(name));
    return value as string[];
  }

  /** Texts by name, of any name; undefined when none were sent. */
  metadata(name = 'metadata'): Metadata | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (value === '') return {};
    const entries = Object.entries(value);
    if (typeof value === 'string' || entries.some(([, one]) => typeof one !== 'string'))
      throw invalidRequest('Invalid hash', undefined, this.#nameOf(name));
    if (entries.some(([key, one]) => key.length > 40 || (one as string).length > 500))
      throw invalidRequest(
        'Metadata keys have 40 characters at most, values 500',
        undefined,
        this.#nameOf(name),
      );
    return Object.fromEntries(entries) as Metadata;
  }

  /** Takes a parameter with all that is in it, which the stand-in keeps and does nothing with. */
  whole(name: string): Tree | undefined {
    const value = this.#take(name);
    return typeof value === 'object' && !Array.isArray(value) ? (value as Tree) : undefined;
  }

  /** @throws when an unread parameter was sent. */
  end(): void {
    const unread = this.names.find((name) => !this.#read.has(name));
    if (unread !== undefined) {
      const full = this.#nameOf(unread);
      throw invalidRequest(`Received unknown parameter: ${full}`, 'parameter_unknown', full);
    }
    for (const nested of this.#nested) nested.end();
  }

  #take(name: string): Tree[string] | undefined {
    this.#read.add(name);
    return this.#values[name];
  }

  #nest(values: Tree, name: string): Params {
    const nested = new Params(values, this.#nameOf(name));
    this.#nested.push(nested);
    return nested;
  }

  #nameOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}[${name}]`;
  }
}

/** As Stripe merges metadata: an empty text takes a name away. */
export function merged(old: Metadata, sent: Metadata | undefined): Metadata {
  if (sent === undefined) return old;
  const all = { ...old, ...sent };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}
