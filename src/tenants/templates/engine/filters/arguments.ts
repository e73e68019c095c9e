import { toValue } from 'liquidjs';
import { Decimal, decimalOf } from '../decimal.ts';

const SHOWN_CHARS = 60;
const SHOWN_NAMES = 5;

/** The arguments of a filter: those in order, and those by name (`locale: "de-DE"`). */
export function namedArguments(
  given: readonly unknown[],
  names: readonly string[],
): { readonly positional: unknown[]; readonly named: Readonly<Record<string, unknown>> } {
  const positional: unknown[] = [];
  const named: Record<string, unknown> = {};
  for (const argument of given) {
    // LiquidJS passes an argument with a name as a pair.
    if (isPair(argument) && names.includes(argument[0])) named[argument[0]] = toValue(argument[1]);
    else positional.push(toValue(argument));
  }
  return { positional, named };
}

function isPair(argument: unknown): argument is [string, unknown] {
  return Array.isArray(argument) && argument.length === 2 && typeof argument[0] === 'string';
}

/** A number for arithmetic; nothing, or a missing value, is 0. @throws Error for what is not a number. */
export function numberOf(value: unknown, filter: string): Decimal {
  const given = value instanceof Decimal ? value : toValue(value);
  if (isNothing(given)) return new Decimal(0n);
  if (typeof given === 'boolean') return new Decimal(given ? 1n : 0n);
  const number = decimalOf(given);
  if (number !== undefined) return number;
  throw new Error(`the filter ${filter} takes numbers, and ${shown(given)} is none${hintFor(given)}`);
}

export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** An integer from `min` to `max`. @throws Error for another value. */
export function integerOf(value: unknown, what: string, min: number, max: number): number {
  const number = Number(decimalOf(value)?.digits);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new Error(`${what} must be an integer from ${min} to ${max}, not ${shown(value)}`);
}

/** A value in an error message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.length > SHOWN_CHARS ? `${value.slice(0, SHOWN_CHARS)}…` : value;
    return JSON.stringify(text);
  }
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null && !(value instanceof Decimal)) return shownObject(value);
  return String(toValue(value)).slice(0, SHOWN_CHARS);
}

/** An object in an error message: by its first fields, since it has no name. */
export function shownObject(value: object): string {
  const names = Object.keys(value);
  if (names.length === 0) return 'an empty object';
  const some = names.slice(0, SHOWN_NAMES).map((name) => name.slice(0, SHOWN_CHARS));
  return `an object (${some.join(', ')}${names.length > SHOWN_NAMES ? ', …' : ''})`;
}

function hintFor(value: unknown): string {
  const hasSeparators = typeof value === 'string' && /^\s*[+-]?[\d.,'\s]+$/.test(value);
  return hasSeparators ? ': send it without separators of thousands, as in 1234.50' : '';
}
