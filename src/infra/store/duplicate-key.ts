import type { mongo } from 'mongoose';

const DUPLICATE_KEY = 11000;

/** Whether a unique index rejected the write; for a bulk write, whether it was the only reason for failures. */
export function isDuplicateKey(error: unknown): boolean {
  const { code, writeErrors = [] } = error as Partial<mongo.MongoBulkWriteError>;
  return code === DUPLICATE_KEY && [writeErrors].flat().every((problem) => problem.code === DUPLICATE_KEY);
}
