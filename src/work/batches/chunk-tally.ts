import type { ChunkTally } from './batch.ts';

/** How one item has ended. */
export interface ItemEnd {
  /** The error code; absent when the item completed. */
  readonly code?: string;
  readonly bytes: number;
}

/** Sums up how the items of a chunk have ended, given by index. */
export function tallyOf(ended: Readonly<Record<string, ItemEnd>>): Required<ChunkTally> {
  const codes: Record<string, number> = {};
  let completed = 0;
  let failed = 0;
  let bytes = 0;
  for (const end of Object.values(ended)) {
    bytes += end.bytes;
    if (end.code === undefined) completed += 1;
    else {
      failed += 1;
      codes[end.code] = (codes[end.code] ?? 0) + 1;
    }
  }
  return { completed, failed, bytes, codes };
}

/** The fields of a batch that hold the tally of one of its chunks. */
export function tallyFields(chunk: number, { completed, failed, bytes, codes }: Required<ChunkTally>) {
  const at = `tallies.${chunk}`;
  return {
    [`${at}.completed`]: completed,
    [`${at}.failed`]: failed,
    [`${at}.bytes`]: bytes,
    ...Object.fromEntries(Object.entries(codes).map(([code, count]) => [`${at}.codes.${code}`, count])),
  };
}
