import type { Liquid } from 'liquidjs';
import { toValueSync } from 'liquidjs';
import type { Decimal } from '../decimal.ts';
import { integerOf, isNothing, numberOf } from './arguments.ts';

const MAX_DECIMALS = 100;

/** A filter of one or two numbers. */
type Arithmetic = (value: Decimal, other: Decimal, name: string) => Decimal;

const ARITHMETIC: Readonly<Record<string, Arithmetic>> = {
  plus: (value, other) => value.plus(other),
  minus: (value, other) => value.minus(other),
  times: (value, other) => value.times(other),
  modulo: (value, other, name) => value.modulo(other) ?? byZero(name),
  at_least: (value, other) => (value.lt(other) ? other : value),
  at_most: (value, other) => (value.gt(other) ? other : value),
  abs: (value) => value.abs(),
  ceil: (value) => value.ceil(),
  floor: (value) => value.floor(),
  to_integer: (value) => value,
};

/** Replaces the arithmetic of LiquidJS, which is binary and takes what is no number for 0, by decimal arithmetic. */
export function registerNumberFilters(liquid: Liquid): void {
  for (const [name, calculate] of Object.entries(ARITHMETIC)) {
    liquid.registerFilter(name, (value: unknown, other: unknown) =>
      calculated(name, () => calculate(numberOf(value, name), numberOf(other, name), name)),
    );
  }
  liquid.registerFilter('divided_by', (value: unknown, divisor: unknown, whole = false) =>
    calculated('divided_by', () => {
      const quotient = numberOf(value, 'divided_by').dividedBy(numberOf(divisor, 'divided_by'));
      if (quotient === undefined) return byZero('divided_by');
      return whole ? quotient.floor() : quotient;
    }),
  );
  liquid.registerFilter('round', (value: unknown, decimals: unknown = 0) =>
    calculated('round', () => {
      const digits = isNothing(decimals) ? 0 : integerOf(decimals, 'decimals', -MAX_DECIMALS, MAX_DECIMALS);
      return numberOf(value, 'round').round(digits);
    }),
  );
  liquid.registerFilter('sum', function (list: unknown, property: unknown) {
    const items = Array.isArray(list) ? list : isNothing(list) ? [] : [list];
    const path = isNothing(property) ? undefined : String(property);
    return calculated('sum', () =>
      items.reduce(
        (sum: Decimal, item: unknown) => {
          const value = path === undefined ? item : toValueSync(this.context._getFromScope(item, path));
          return sum.plus(numberOf(value, 'sum'));
        },
        numberOf(0, 'sum'),
      ),
    );
  });
}

function calculated(name: string, calculate: () => Decimal): number | Decimal {
  try {
    return calculate().result;
  } catch (error) {
    if (error instanceof RangeError) throw new Error(`the result of ${name} is too large`, { cause: error });
    throw error;
  }
}

function byZero(name: string): never {
  throw new Error(`the filter ${name} cannot divide by 0`);
}
