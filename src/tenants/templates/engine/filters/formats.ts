import { type Context, type Liquid, toValue } from 'liquidjs';
import { LRUCache } from 'lru-cache';
import { termsOf } from '../terms.ts';
import { integerOf, isNothing, namedArguments, numberOf, shown } from './arguments.ts';

/** The language of documents that name none. */
export const DEFAULT_LOCALE = 'en-US';

/** Decimals that the formats of ECMA-402 print at most. */
const MAX_DECIMALS = 100;
/** Decimals of a percentage without a number of them: tax rates have up to three. */
const MAX_PERCENT_DECIMALS = 4;
/** Decimals of a number without a number of them: what binary numbers show. */
const MAX_NUMBER_DECIMALS = 20;
/** A format takes some kilobytes, and a template can name hundreds of languages. */
export const CACHED_FORMATS = 50;

export const NO_CURRENCY = 'the filter money needs a currency, as in money: "EUR"';

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const NAMES = ['locale', 'digits', 'currency'];

const formats = new LRUCache<string, Intl.NumberFormat>({ max: CACHED_FORMATS });
/** Finding out whether a language is known takes longer than printing a number in it. */
const locales = new LRUCache<string, { readonly locale: string | undefined }>({ max: CACHED_FORMATS });

/** Adds `money`, `number` and `percent`, which print numbers in the language of the document. */
export function registerFormatFilters(liquid: Liquid): void {
  liquid.registerFilter('money', function (value: unknown, ...given: unknown[]) {
    const { positional, named } = namedArguments(given, NAMES);
    const currency = currencyOf(named.currency ?? positional[0]);
    const digits = named.digits ?? positional[2];
    return formatted('money', this.context, value, named.locale ?? positional[1], {
      style: 'currency',
      currency,
      ...(!isNothing(digits) && fixed(digits)),
    });
  });
  liquid.registerFilter('number', function (value: unknown, ...given: unknown[]) {
    const { positional, named } = namedArguments(given, NAMES);
    const digits = named.digits ?? positional[0];
    const decimals = isNothing(digits) ? { maximumFractionDigits: MAX_NUMBER_DECIMALS } : fixed(digits);
    return formatted('number', this.context, value, named.locale ?? positional[1], decimals);
  });
  liquid.registerFilter('percent', function (value: unknown, ...given: unknown[]) {
    const { positional, named } = namedArguments(given, NAMES);
    const digits = named.digits ?? positional[0];
    const decimals = isNothing(digits) ? { maximumFractionDigits: MAX_PERCENT_DECIMALS } : fixed(digits);
    return formatted('percent', this.context, value, named.locale ?? positional[1], {
      style: 'percent',
      ...decimals,
    });
  });
}

/**
 * The language of a format: the one that a template names, or that of the document. A document may be in a language
 * that the formats do not know; they are in the default language then.
 *
 * @throws Error for a language of a template that does not exist.
 */
export function localeOf(given: unknown, context: Context): string {
  if (!isNothing(given)) {
    const known = knownLocale(given);
    if (known !== undefined) return known;
    throw new Error(`${shown(given)} is not a language tag that is known, such as de-DE`);
  }
  return knownLocale(termsOf(context).locale ?? DEFAULT_LOCALE) ?? DEFAULT_LOCALE;
}

function knownLocale(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const found = locales.get(given) ?? { locale: supportedLocale(given) };
  locales.set(given, found);
  return found.locale;
}

function supportedLocale(given: string): string | undefined {
  try {
    return Intl.NumberFormat.supportedLocalesOf(given)[0];
  } catch {
    return undefined;
  }
}

function currencyOf(given: unknown): string {
  if (isNothing(given)) throw new Error(NO_CURRENCY);
  const code = typeof given === 'string' ? given.toUpperCase() : '';
  if (CURRENCIES.has(code)) return code;
  throw new Error(`${shown(given)} is not the code of a currency, such as EUR`);
}

function fixed(digits: unknown): Intl.NumberFormatOptions {
  const decimals = integerOf(digits, 'digits', 0, MAX_DECIMALS);
  return { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
}

/** Nothing for a value that is missing: a report says that it is. */
function formatted(
  filter: string,
  context: Context,
  value: unknown,
  locale: unknown,
  options: Intl.NumberFormatOptions,
): string {
  const format = formatOf(localeOf(locale, context), options);
  if (isNothing(toValue(value))) return '';
  if (typeof value === 'boolean') throw new Error(`the filter ${filter} takes numbers, and ${value} is none`);
  const text = format.format(numberOf(value, filter).settledDigits as Intl.StringNumericLiteral);
  context.memoryLimit.use(text.length);
  return text;
}

function formatOf(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify([locale, options]);
  const known = formats.get(key);
  if (known !== undefined) return known;
  // A credit that rounds to nothing is 0.00, not -0.00.
  const format = new Intl.NumberFormat(locale, { ...options, signDisplay: 'negative' });
  formats.set(key, format);
  return format;
}
