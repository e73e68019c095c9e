import { Liquid } from 'liquidjs';

export interface Variable {
  /** As `number` and `customer.name`: of lists and of what is read by a computed name, the list. */
  readonly path: string;
  /** Where it is used first, both from 1. */
  readonly line: number;
  readonly column: number;
}

/** What a template takes from its data, in the order of first use. @throws Error when the template cannot be parsed. */
export function variablesIn(content: string): Variable[] {
  const liquid = new Liquid();
  const { globals } = liquid.analyzeSync(liquid.parse(content), { partials: false });
  const used = Object.values(globals).flat();
  const found = new Map<string, Variable>();
  for (const { segments, location } of used) {
    const end = segments.findIndex((segment) => typeof segment !== 'string' || segment.includes('.'));
    const path = (end < 0 ? segments : segments.slice(0, Math.max(1, end))).join('.');
    const before = found.get(path);
    const { row: line, col: column } = location;
    if (before === undefined || line < before.line || (line === before.line && column < before.column))
      found.set(path, { path, line, column });
  }
  // Of `customer` and `customer.name` the second says more.
  return [...found.values()]
    .filter(({ path }) => ![...found.keys()].some((other) => other.startsWith(`${path}.`)))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

/** Their paths. @throws as `variablesIn`. */
export function variablesOf(content: string): string[] {
  return variablesIn(content).map(({ path }) => path);
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
