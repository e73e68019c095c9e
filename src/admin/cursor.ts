import { z } from 'zod';
import { PlatenError } from '../infra/errors/registry.ts';
import type { KeysetPosition } from '../infra/store/keyset.ts';

/** Longer cursors are none of ours. Characters. */
const MAX_CURSOR = 4096;
const moment = z.iso.datetime().transform((text) => new Date(text));
const timePosition = z.strictObject({ value: moment, id: z.string().max(200) });
const textPosition = z.strictObject({ value: z.string().max(400), id: z.string().max(200) });

/** Writes the place where a list or an operation continues as a text for callers. */
export function writeCursor(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** @throws PlatenError VALIDATION for a text that `writeCursor` has not written for this list. */
export function readCursor<T>(text: string, schema: z.ZodType<T>): T {
  try {
    if (text.length > MAX_CURSOR) throw new Error('too long');
    return schema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch {
    throw new PlatenError('VALIDATION', 'cursor: must be the `cursor` of a response of the same list.');
  }
}

/** A page as it is requested. */
export interface RequestedPage {
  readonly cursor?: string | undefined;
  /** Rows at the most, from 1. */
  readonly limit: number;
}

/** A page as it is returned; `cursor` is null for the last one. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly cursor: string | null;
}

/** Reads a page of a sorted list. @param read reads records after a position. @param sortedBy their sorted field. */
export async function readPage<T extends { readonly _id: string }>(
  { cursor, limit }: RequestedPage,
  read: (page: { after: KeysetPosition | undefined; limit: number }) => Promise<readonly T[]>,
  sortedBy: (record: T) => Date | string,
  by: 'time' | 'text' = 'time',
): Promise<Page<T>> {
  const schema: z.ZodType<KeysetPosition> = by === 'time' ? timePosition : textPosition;
  const after = cursor === undefined ? undefined : readCursor(cursor, schema);
  return pageOf(await read({ after, limit: limit + 1 }), limit, (last) => ({
    value: sortedBy(last),
    id: last._id,
  }));
}

/** A page of records of which one more was read than it shows. */
export function pageOf<T>(read: readonly T[], limit: number, positionOf: (last: T) => unknown): Page<T> {
  const rows = read.slice(0, limit);
  const last = rows.at(-1);
  return { rows, cursor: read.length > limit && last !== undefined ? writeCursor(positionOf(last)) : null };
}
