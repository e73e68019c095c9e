import { mongo } from 'mongoose';
import { PlatenError } from '../../../infra/errors/registry.ts';
import { MAX_INPUT_BYTES } from '../../../tenants/plans/plan.ts';
import type { JobInput } from '../job.ts';
import type { StoredInput } from './collections.ts';

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
