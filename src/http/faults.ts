import type { z } from 'zod';

/** More than anyone reads; a body of megabytes must not be answered with megabytes. */
export const MAX_FAULTS = 100;
const MAX_NAME = 64;

type RawIssue = z.core.$ZodRawIssue;

/** Every fault, each naming its place: `options.scale: must be at most 2`. */
export function faultsOf(error: z.ZodError, whole: string): string[] {
  const faults: string[] = [];
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, MAX_FAULTS + 1))
        faults.push(`${placeOf([...issue.path, key], whole)}: is not known`);
    } else if (issue.code === 'invalid_key') {
      faults.push(`${placeOf(issue.path, whole)}: the name ${issue.issues[0]?.message ?? 'is not allowed'}`);
    } else {
      faults.push(`${placeOf(issue.path, whole)}: ${issue.message}`);
    }
    if (faults.length > MAX_FAULTS) break;
  }
  if (faults.length <= MAX_FAULTS) return faults;
  return [...faults.slice(0, MAX_FAULTS), 'There are more faults than are listed here.'];
}

function placeOf(path: readonly PropertyKey[], whole: string): string {
  let place = '';
  for (const part of path) {
    if (typeof part === 'number') place += `[${part}]`;
    else place += `${place === '' ? '' : '.'}${shortened(String(part))}`;
  }
  return place === '' ? whole : place;
}

function shortened(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`;
}

/** Says what is wrong with a value in words that follow its place. What a schema says for itself goes before this. */
export function wordFault(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${kindOf(issue.expected)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return bound(issue.origin, 'at most', Number(issue.maximum));
    case 'too_small':
      return bound(issue.origin, 'at least', Number(issue.minimum));
    case 'invalid_format':
      return issue.format === 'uuid' ? 'must be a UUID' : `must be a valid ${issue.format}`;
    default:
      return 'is not valid';
  }
}

const KINDS: Record<string, string> = {
  int: 'an integer',
  object: 'an object',
  array: 'an array',
  record: 'an object',
};

function kindOf(expected: string): string {
  return KINDS[expected] ?? `a ${expected}`;
}

function bound(origin: string, relation: string, limit: number): string {
  if (origin === 'string') return `must have ${relation} ${count(limit, 'character')}`;
  if (origin === 'array') return `must hold ${relation} ${count(limit, 'item')}`;
  return `must be ${relation} ${limit}`;
}

function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}
