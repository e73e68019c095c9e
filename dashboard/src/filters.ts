import { useSearchParams } from 'wouter';

/** Rows on a page of a list. */
export const PAGE_SIZE = 25;

/**
 * The filters of a list, which live in the address: reloading, going back and sending the address keep them.
 *
 * @returns the values, and what sets some of them; an empty one is taken out, and any change leads back to the first page.
 * With `replace` it is no step of its own to go back by, as for each letter of a search.
 */
export function useFilters(): [
  URLSearchParams,
  (change: Readonly<Record<string, string>>, how?: { readonly replace: boolean }) => void,
] {
  const [params, setParams] = useSearchParams();
  const set = (change: Readonly<Record<string, string>>, how?: { readonly replace: boolean }) =>
    setParams((before) => {
      const after = new URLSearchParams(before);
      if (!('offset' in change)) after.delete('offset');
      for (const [name, value] of Object.entries(change))
        if (value === '') after.delete(name);
        else after.set(name, value);
      return after;
    }, how);
  return [params, set];
}

/** A value of a filter, if it is one of those there are. */
export function oneOf<Value extends string>(
  value: string | null,
  values: readonly Value[],
): Value | undefined {
  return values.find((each) => each === value);
}

/** A moment of a filter in ISO 8601, if it is one. Addresses are cut, and typed by hand. */
export function momentOf(value: string | null): string | undefined {
  const moment = new Date(value ?? '');
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}

/** Which rows of a list the address asks for. */
export function pageOf(filters: URLSearchParams): { readonly limit: number; readonly offset: number } {
  const offset = Number(filters.get('offset') ?? 0);
  return { limit: PAGE_SIZE, offset: Number.isInteger(offset) && offset >= 0 ? offset : 0 };
}
