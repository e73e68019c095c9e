/**
 * The words of the pages are English, so numbers and dates are as well: in the reader's own variety of it, if there is one.
 */
export const LANGUAGE = navigator.languages.find((each) => /^en(-[A-Z]{2})?$/i.test(each)) ?? 'en';

const NUMBER = new Intl.NumberFormat(LANGUAGE);

export const number = (value: number): string => NUMBER.format(value);

/** 234 ms, 12.3 s, 30 s or 4 min 5 s. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1).replace('.0', '')} s`;
  const seconds = Math.round((ms % 60_000) / 1000);
  return `${Math.floor(ms / 60_000)} min${seconds === 0 ? '' : ` ${seconds} s`}`;
}

/** 12 hours, 1 day or 7 days. */
export function hours(count: number): string {
  return count % 24 === 0 ? counted(count / 24, 'day') : counted(count, 'hour');
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  const [value, unit] = size < 1024 ** 2 ? [size / 1024, 'KiB'] : [size / 1024 ** 2, 'MiB'];
  return `${value.toFixed(1).replace('.0', '')} ${unit}`;
}

export function money(cents: number, currency = 'usd'): string {
  return new Intl.NumberFormat(LANGUAGE, { style: 'currency', currency }).format(cents / 100);
}

/** `1 page`, `2 pages`. */
export const counted = (count: number, one: string): string =>
  `${number(count)} ${one}${count === 1 ? '' : 's'}`;

/** The beginning of a text that may have many lines. */
export const firstLine = (text: string): string => text.split('\n', 1)[0]!.slice(0, 80);

/** `professional` as the name of a plan in a sentence or heading. */
export const titled = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The end of an id, which tells it from its neighbours: ids begin with the time, which those of a minute share. */
export const shortId = (id: string): string => id.slice(-8);
