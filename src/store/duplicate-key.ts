import type { mongo } from 'mongoose';

const DUPLICATE_KEY = 11000;

/** Whether a unique index refused the write; of writes sent together, whether that alone made those fail that did. */
export function isDuplicateKey(error: unknown): boolean {
  const { code, writeErrors = [] } = error as Partial<mongo.MongoBulkWriteError>;
  return code === DUPLICATE_KEY && [writeErrors].flat().every((problem) => problem.code === DUPLICATE_KEY);
}
