/*
 * Numbers of invoices, apart from those of templates (`tenants/templates/engine/decimal.ts`): the digits of these are fixed, so that
 * they are integers, which `+`, `-`, `<` and `===` are for. Those of templates have as many decimals as a division leaves, are cut to
 * 60 digits, and are objects that the template engine compares and prints. Half away from zero is all that both have in common.
 */

/** Decimals of an exact number; more than invoices have. */
const SCALE = 20;
const UNIT = 10n ** BigInt(SCALE);
/** Digits before the decimal point, which bound the work. */
const MAX_WHOLE = 30;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?$/;

/** An exact decimal number: a multiple of 10^-20. Sums of them are exact. */
export type Exact = bigint;

export const ZERO: Exact = 0n;

/** @returns undefined for a text that is no decimal number, or one of more digits than invoices have. */
export function exactOf(text: string): Exact | undefined {
  const [, sign, whole = '', decimals = ''] = NUMBER.exec(text.trim()) ?? [];
  if (sign === undefined || whole + decimals === '') return undefined;
  if (whole.length > MAX_WHOLE || decimals.length > SCALE) return undefined;
  const value = BigInt(whole + decimals.padEnd(SCALE, '0'));
  return sign === '-' ? -value : value;
}

/** The product, cut to 20 decimals: exact for amounts and rates. */
export function times(one: Exact, other: Exact): Exact {
  return (one * other) / UNIT;
}

/** Half away from zero. @param decimals from 0 to 20. */
export function rounded(value: Exact, decimals: number): Exact {
  const step = 10n ** BigInt(SCALE - decimals);
  const half = value < 0n ? -step / 2n : step / 2n;
  return ((value + half) / step) * step;
}

/** With at least `least` decimals, and no zeros after those. */
export function textOf(value: Exact, least = 2): string {
  const digits = String(value < 0n ? -value : value).padStart(SCALE + 1, '0');
  const decimals = digits.slice(-SCALE).replace(/0+$/, '').padEnd(least, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -SCALE)}${decimals === '' ? '' : `.${decimals}`}`;
}
