import { type Context, type Liquid, toValue } from 'liquidjs';
import { LRUCache } from 'lru-cache';
import { Decimal } from '../decimal.ts';
import { termsOf } from '../terms.ts';
import { isNothing, namedArguments, shown } from './arguments.ts';
import { CACHED_FORMATS, DEFAULT_LOCALE, localeOf } from './formats.ts';
import { handlerOf } from './texts.ts';

/** Numbers from here on are milliseconds: as seconds they would be in the year 5138. */
const MILLISECONDS_FROM = 1e11;
/** The last moment of ECMAScript's dates, in milliseconds. */
const LAST_MS = 8.64e15;

const STYLES = ['short', 'medium', 'long', 'full'] as const;
const NAMES = ['timezone', 'locale'];
/** Filters of Jekyll that take a date and print it in a format of their own. */
const OTHERS = ['date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'];

const YEAR_FIRST = /^\s*([+-]?\d{4,6})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/;
const YEAR_LAST = /^\s*(\d{1,2})([-/.])(\d{1,2})[-/.]\d{2,4}(?!\d)/;
const DATE_ALONE = /^\s*\d{4}-\d{1,2}-\d{1,2}\s*$/;
const ZONE = /(?:[zZ]|gmt|utc|[+-]\d{2}:?\d{2})(?:\s*\(.*\))?\s*$/i;

const styles = new LRUCache<string, Intl.DateTimeFormat>({ max: CACHED_FORMATS });

/** A text or number that looks like a date and is none. */
class NoDate extends Error {
  constructor(text: string) {
    super(`${shown(text)} is not a date`);
  }
}

/**
 * Makes the date filters of LiquidJS follow the document. A day that does not exist is printed as it is written, with a
 * warning; with strict data it fails the render.
 */
export function registerDateFilters(liquid: Liquid): void {
  const date = handlerOf(liquid.filters, 'date');
  liquid.registerFilter('date', function (value: unknown, ...given: unknown[]) {
    const read = readOrKeep(value, this.context);
    if (read instanceof NoDate) return value;
    const { positional, named } = namedArguments(given, NAMES);
    const format = positional[0];
    const zone = named.timezone ?? positional[1];
    const locale = localeOf(named.locale ?? positional[2], this.context);
    const timezone = isNothing(zone) ? undefined : checkedTimezone(zone);
    const context = withLocale(this.context, locale);
    // A day without a time is that day in every zone.
    const isDay = typeof read === 'string' && DATE_ALONE.test(read);
    const print = (text: unknown) =>
      date.call({ ...this, context }, read, text, isDay ? undefined : timezone);
    const style = STYLES.find((name) => name === format);
    if (style === undefined) return print(format);
    const wall = new Date(`${print('%Y-%m-%dT%H:%M:%S')}Z`);
    if (Number.isNaN(wall.getTime())) return read;
    return styleOf(locale, style).format(wall);
  });
  for (const name of OTHERS) {
    const handler = handlerOf(liquid.filters, name);
    liquid.registerFilter(name, function (value: unknown, ...given: unknown[]) {
      const read = readOrKeep(value, this.context);
      return read instanceof NoDate ? value : handler.call(this, read, ...given);
    });
  }
}

function styleOf(locale: string, dateStyle: (typeof STYLES)[number]): Intl.DateTimeFormat {
  const key = `${locale} ${dateStyle}`;
  const format = styles.get(key) ?? new Intl.DateTimeFormat(locale, { dateStyle, timeZone: 'UTC' });
  styles.set(key, format);
  return format;
}

/** `readDate`, whose NoDate is returned, and noted, unless data are strict. */
function readOrKeep(value: unknown, context: Context): unknown {
  try {
    return readDate(value, context);
  } catch (error) {
    const { strict, notes } = termsOf(context);
    if (strict || !(error instanceof NoDate)) throw error;
    notes?.addRemark(`${error.message}: it was printed as it is`);
    return error;
  }
}

/**
 * A value as LiquidJS reads it rightly: moments as dates, days and local times as texts. What is no date at all stays
 * as it is, and is printed so.
 *
 * @throws NoDate for what looks like a date and is none; Error for what may be one of two.
 */
function readDate(value: unknown, context: Context): unknown {
  const given = value instanceof Decimal ? Number(value.digits) : toValue(value);
  if (isNothing(given) || given === 'now' || given === 'today') return given;
  if (typeof given === 'number') return momentOf(given);
  if (typeof given !== 'string') throw new Error(`${shown(given)} is not a date`);
  if (/^\d+$/.test(given)) return momentOf(Number(given));
  checkDay(given, context);
  const ms = Date.parse(given);
  if (Number.isNaN(ms)) {
    if (YEAR_FIRST.test(given) || YEAR_LAST.test(given)) throw new NoDate(given);
    return given;
  }
  // Without a time zone of the document a moment stays in the zone in which it is written.
  const follows = termsOf(context).timezone !== undefined && ZONE.test(given) && !DATE_ALONE.test(given);
  return follows ? new Date(ms) : given;
}

function momentOf(number: number): Date {
  const ms = Math.abs(number) >= MILLISECONDS_FROM ? number : number * 1000;
  if (!(Math.abs(ms) <= LAST_MS)) throw new NoDate(String(number));
  return new Date(ms);
}

/** The browser's engine makes March 2 of February 30, and takes the month first wherever the year is last. */
function checkDay(text: string, context: Context): void {
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst !== null) {
    const [year, month, day] = yearFirst.slice(1).map(Number);
    if (!isDay(year!, month!, day!)) throw new NoDate(text);
    return;
  }
  const yearLast = YEAR_LAST.exec(text);
  if (yearLast !== null) {
    checkMonthFirst(text, yearLast, context);
    return;
  }
  const written = text.match(/\d+/g)?.map(Number) ?? [];
  const parsed = new Date(text);
  const isShifted = !ZONE.test(text) && written.some((number) => number >= 29 && number <= 31);
  if (isShifted && !Number.isNaN(parsed.getTime()) && !written.includes(parsed.getDate()))
    throw new NoDate(text);
}

function checkMonthFirst(text: string, [, first, sign, second]: RegExpExecArray, context: Context): void {
  const { locale = DEFAULT_LOCALE, notes } = termsOf(context);
  const [month, day] = [Number(first), Number(second)];
  if (sign !== '/' || locale !== DEFAULT_LOCALE)
    throw new Error(`${shown(text)} may have the day or the month first: send dates as 2026-12-31`);
  const parsed = new Date(text);
  if (Number.isNaN(parsed.getTime()) || month !== parsed.getMonth() + 1 || day !== parsed.getDate())
    throw new NoDate(text);
  if (month <= 12 && day <= 12 && month !== day)
    notes?.addRemark(`the date ${shown(text)} was read with the month first: send dates as 2026-12-31`);
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function checkedTimezone(given: unknown): unknown {
  // Minutes that the zone is behind UTC, as LiquidJS takes them.
  if (typeof given === 'number') return given;
  try {
    new Intl.DateTimeFormat(DEFAULT_LOCALE, { timeZone: String(given) });
    return given;
  } catch {
    throw new Error(`${shown(given)} is not a time zone, such as Europe/Berlin`);
  }
}

/** The same context for a filter of LiquidJS, which reads the language from its options. */
function withLocale(context: Context, locale: string): Context {
  if (context.opts.locale === locale) return context;
  return Object.assign(Object.create(context) as Context, { opts: { ...context.opts, locale } });
}
