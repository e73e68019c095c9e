import { mongo } from 'mongoose';
import { PlatenError } from '../../../infra/errors/registry.ts';
import { MAX_INPUT_BYTES } from '../../../tenants/plans/plan.ts';
import { parseKeepingIntegers, rawNumber } from '../../../tenants/templates/long-integers.ts';
import type { Job, JobInput } from '../job.ts';
import type { StoredInput } from './collections.ts';

/**
 * Bytes up to which an input is stored in the record of its job: this saves three operations of the database a render.
 * The record is written anew with each change of the job, so that larger ones would cost more than they save.
 */
const SMALL_BYTES = 32 * 1024;

/** Whether the input of a job is in its record: unless it is large, or shares parts with those of other items. */
export function isInRecord({ item, inputBytes = Infinity }: Pick<Job, 'item' | 'inputBytes'>): boolean {
  return item === undefined && inputBytes <= SMALL_BYTES;
}

/** The input that a stored content stands for, without the parts that it shares. */
export function parsedInput({
  _id,
  accountId,
  createdAt,
  content,
}: Pick<StoredInput, '_id' | 'accountId' | 'createdAt' | 'content'>): JobInput {
  const text = Buffer.from(content.value()).toString();
  return { ...(parseKeepingIntegers(text, rawNumber, 'data') as JobInput), _id, accountId, createdAt };
}

/**
 * An input in its stored form.
 *
 * @param shared the ids of the parts that are stored separately.
 * @throws PlatenError INPUT_TOO_LARGE when template and data together exceed the limit of a record.
 */
export function storedInput(input: JobInput, shared?: StoredInput['shared']): StoredInput {
  const { _id, accountId, createdAt, ...content } = input;
  const bytes = Buffer.from(JSON.stringify(content));
  if (bytes.byteLength > MAX_INPUT_BYTES) {
    throw new PlatenError(
      'INPUT_TOO_LARGE',
      `Document and data take more than ${MAX_INPUT_BYTES} bytes together.`,
    );
  }
  return { _id, accountId, createdAt, content: new mongo.Binary(bytes), ...(shared && { shared }) };
}
