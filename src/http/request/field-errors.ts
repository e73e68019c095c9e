import type { z } from 'zod';
import { printable } from '../../render/options/core/text-schemas.ts';

/** Errors in one response: more than anyone reads. A body of megabytes must not get a response of megabytes. */
export const MAX_ERRORS = 100;
const MAX_NAME = 64;

type RawIssue = z.core.$ZodRawIssue;

/** All errors, each with the position of its field: `options.scale: must be at most 2`. */
export function errorsOf(error: z.ZodError, whole: string): string[] {
  const errors: string[] = [];
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, MAX_ERRORS + 1))
        errors.push(`${positionOf([...issue.path, key], whole)}: is not known`);
    } else if (issue.code === 'invalid_key') {
      errors.push(
        `${positionOf(issue.path, whole)}: the name ${issue.issues[0]?.message ?? 'is not allowed'}`,
      );
    } else {
      errors.push(`${positionOf(issue.path, whole)}: ${issue.message}`);
    }
    if (errors.length > MAX_ERRORS) break;
  }
  if (errors.length <= MAX_ERRORS) return errors;
  return [...errors.slice(0, MAX_ERRORS), 'There are more errors than are listed here.'];
}

function positionOf(path: readonly PropertyKey[], whole: string): string {
  let position = '';
  for (const part of path) {
    if (typeof part === 'number') position += `[${part}]`;
    else position += `${position === '' ? '' : '.'}${shortened(String(part))}`;
  }
  return position === '' ? whole : position;
}

function shortened(name: string): string {
  return printable(name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`);
}

/** An id in an error, between quotation marks. */
export function quoted(id: string): string {
  return JSON.stringify(shortened(id));
}

/** The message of an error, to follow the position of its field. A message of the schema itself takes precedence. */
export function wordError(issue: RawIssue): string {
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
