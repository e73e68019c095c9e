import type { Comparable } from 'liquidjs';
import { rawNumber } from '../long-integers.ts';
import { Opaque } from './opaque.ts';

/** Significant digits that a number with decimals keeps: beyond those of any amount, and bounded work. */
const PRECISION = 60;
/** Digits of an integer, and decimals. Those of every binary number are fewer. */
const MAX_DIGITS = 400;
/**
 * Decimals that count when a number is rounded or compared: what a division leaves in the last of its 60 digits, as in
 * 10 / 3 * 3, must not matter.
 */
const SETTLED_DECIMALS = 40;
/** A number with more decimals was not written by hand, and is printed as a binary number is. */
const MAX_PRINTED_DECIMALS = 15;

const NUMBER = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,4}))?$/i;

/** A decimal number: sums, differences and products of amounts are exact. */
export class Decimal extends Opaque implements Comparable {
  readonly #coefficient: bigint;
  /** Decimals. The value is coefficient / 10^scale. */
  readonly #scale: number;

  /** @throws Error for an integer of more than 400 digits. */
  constructor(coefficient: bigint, scale = 0) {
    super();
    [this.#coefficient, this.#scale] = normalised(coefficient, scale);
  }

  /** @returns undefined for a text that is not a number, or one of more than 400 digits. */
  static parse(text: string): Decimal | undefined {
    if (text.length > 2 * MAX_DIGITS) return undefined;
    const [, sign, whole = '', decimals = '', exponent = '0'] = NUMBER.exec(text) ?? [];
    if (sign === undefined || whole + decimals === '') return undefined;
    const scale = decimals.length - Number(exponent);
    if (Math.abs(scale) > MAX_DIGITS || whole.length > MAX_DIGITS) return undefined;
    const coefficient = BigInt(whole + decimals);
    if (coefficient !== 0n && String(coefficient).length - scale > MAX_DIGITS) return undefined;
    return new Decimal(sign === '-' ? -coefficient : coefficient, scale);
  }

  /** The number that its shortest notation shows: 0.1 is one tenth. */
  static ofNumber(value: number): Decimal | undefined {
    return Number.isSafeInteger(value) ? new Decimal(BigInt(value)) : Decimal.parse(String(value));
  }

  plus(other: Decimal): Decimal {
    const scale = Math.max(this.#scale, other.#scale);
    return new Decimal(this.#at(scale) + other.#at(scale), scale);
  }

  minus(other: Decimal): Decimal {
    return this.plus(other.negated());
  }

  times(other: Decimal): Decimal {
    return new Decimal(this.#coefficient * other.#coefficient, this.#scale + other.#scale);
  }

  /** To 60 digits. @returns undefined for a division by 0. */
  dividedBy(other: Decimal): Decimal | undefined {
    if (other.isZero) return undefined;
    const more = PRECISION + digitsOf(other.#coefficient);
    const quotient = (this.#coefficient * power(more)) / other.#coefficient;
    return new Decimal(quotient, this.#scale - other.#scale + more);
  }

  /** The rest of a division, with the sign of the divisor. @returns undefined for a division by 0. */
  modulo(other: Decimal): Decimal | undefined {
    if (other.isZero) return undefined;
    const scale = Math.max(this.#scale, other.#scale);
    const divisor = other.#at(scale);
    return new Decimal(((this.#at(scale) % divisor) + divisor) % divisor, scale);
  }

  negated(): Decimal {
    return new Decimal(-this.#coefficient, this.#scale);
  }

  abs(): Decimal {
    return this.#coefficient < 0n ? this.negated() : this;
  }

  /** Half away from zero. @param decimals from -100 to 100. */
  round(decimals: number): Decimal {
    const { coefficient, scale } = this.#settled();
    if (scale <= decimals) return new Decimal(coefficient, scale);
    return new Decimal(dividedHalfAway(coefficient, power(scale - decimals)), decimals);
  }

  floor(): Decimal {
    const { coefficient, scale } = this.#settled();
    const unit = power(scale);
    const whole = coefficient / unit;
    return new Decimal(coefficient < 0n && coefficient % unit !== 0n ? whole - 1n : whole);
  }

  ceil(): Decimal {
    return this.negated().floor().negated();
  }

  get isZero(): boolean {
    return this.#coefficient === 0n;
  }

  /** All digits, without an exponent. */
  get digits(): string {
    const digits = String(this.#coefficient)
      .replace('-', '')
      .padStart(this.#scale + 1, '0');
    const whole = digits.slice(0, digits.length - this.#scale);
    const sign = this.#coefficient < 0n ? '-' : '';
    return this.#scale === 0 ? sign + whole : `${sign}${whole}.${digits.slice(-this.#scale)}`;
  }

  /** The digits that are printed and formatted: without what a division leaves in its last ones. */
  get settledDigits(): string {
    return this.round(SETTLED_DECIMALS).digits;
  }

  /** A number where one has the same value, so that the rest of a template sees what it always saw. */
  get result(): number | Decimal {
    const number = Number(this.digits);
    const shown = Decimal.ofNumber(number);
    return shown !== undefined && this.#isSame(shown) ? number : this;
  }

  override valueOf(): number | bigint | string {
    if (this.#scale > MAX_PRINTED_DECIMALS) return Number(this.digits);
    return this.#scale === 0 ? this.#coefficient : this.digits;
  }

  toJSON(): unknown {
    return this.#scale > MAX_PRINTED_DECIMALS ? this.valueOf() : rawNumber(this.digits);
  }

  equals(other: unknown): boolean {
    return (typeof other === 'number' || other instanceof Decimal) && this.#compare(other) === 0;
  }
  gt(other: unknown): boolean {
    return this.#compare(other) > 0;
  }
  geq(other: unknown): boolean {
    return this.#compare(other) >= 0;
  }
  lt(other: unknown): boolean {
    return this.#compare(other) < 0;
  }
  leq(other: unknown): boolean {
    return this.#compare(other) <= 0;
  }

  /** NaN, which is neither more nor less, when the other one is no number. */
  #compare(other: unknown): number {
    if (typeof other === 'number' && this.#scale === 0) {
      // A literal of a template has lost its last digits already.
      return Math.sign(Number(this.#coefficient) - other);
    }
    const decimal = other instanceof Decimal ? other : decimalOf(other);
    if (decimal === undefined) return Number.NaN;
    if (this.#scale <= MAX_PRINTED_DECIMALS && decimal.#scale <= MAX_PRINTED_DECIMALS) {
      const { isZero, digits } = this.minus(decimal);
      if (isZero) return 0;
      return digits.startsWith('-') ? -1 : 1;
    }
    return Math.sign(Number(this.digits) - Number(decimal.digits));
  }

  #isSame(other: Decimal): boolean {
    return this.#coefficient === other.#coefficient && this.#scale === other.#scale;
  }

  #at(scale: number): bigint {
    return this.#coefficient * power(scale - this.#scale);
  }

  #settled(): { coefficient: bigint; scale: number } {
    const [coefficient, scale] = [this.#coefficient, this.#scale];
    if (scale <= SETTLED_DECIMALS) return { coefficient, scale };
    return {
      coefficient: dividedHalfAway(coefficient, power(scale - SETTLED_DECIMALS)),
      scale: SETTLED_DECIMALS,
    };
  }
}

/** @returns undefined for a value that is neither a number nor a text with one. */
export function decimalOf(value: unknown): Decimal | undefined {
  if (value instanceof Decimal) return value;
  if (typeof value === 'number') return Decimal.ofNumber(value);
  return typeof value === 'string' ? Decimal.parse(value.trim()) : undefined;
}

/** Within the bounds, and without zeros at the end. */
function normalised(coefficient: bigint, scale: number): [coefficient: bigint, scale: number] {
  if (scale <= 0) return [within(coefficient * power(-scale)), 0];
  const surplus = Math.max(digitsOf(coefficient) - PRECISION, scale - MAX_DIGITS);
  const cut = Math.min(scale, surplus);
  const [kept, decimals] =
    cut > 0 ? [dividedHalfAway(coefficient, power(cut)), scale - cut] : [coefficient, scale];
  const zeros = kept === 0n ? decimals : (/0*$/.exec(String(kept))?.[0].length ?? 0);
  const dropped = Math.min(zeros, decimals);
  return [within(kept / power(dropped)), decimals - dropped];
}

function within(coefficient: bigint): bigint {
  if (digitsOf(coefficient) > MAX_DIGITS) throw new Error(`a number of more than ${MAX_DIGITS} digits`);
  return coefficient;
}

function digitsOf(coefficient: bigint): number {
  return String(coefficient).length - (coefficient < 0n ? 1 : 0);
}

function power(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

function dividedHalfAway(dividend: bigint, divisor: bigint): bigint {
  const half = divisor / 2n;
  return (dividend < 0n ? dividend - half : dividend + half) / divisor;
}
