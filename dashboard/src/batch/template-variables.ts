import { Liquid } from 'liquidjs';

/**
 * What a template takes from its data, as `number` and `customer.name`, in the order of first use: of lists and of what is
 * read by a computed name, the list.
 *
 * @throws Error when the template cannot be parsed.
 */
export function variablesOf(content: string): string[] {
  const paths = new Set(
    new Liquid().globalVariableSegmentsSync(content, { partials: false }).map((segments) => {
      const end = segments.findIndex((segment) => typeof segment !== 'string' || segment.includes('.'));
      return (end < 0 ? segments : segments.slice(0, Math.max(1, end))).join('.');
    }),
  );
  // Of `customer` and `customer.name` the second says more.
  return [...paths].filter((path) => ![...paths].some((other) => other.startsWith(`${path}.`)));
}

/** The value at a path of data; undefined where there is none. */
export function valueAt(data: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      data,
    );
}
