import { mongo } from 'mongoose';
import { PlatenError } from '../../errors/registry.ts';
import { MAX_INPUT_BYTES } from '../../plans/plan.ts';
import type { JobInput } from '../job.ts';
import type { JobCollections, StoredInput } from './collections.ts';

/** The documents to render, each read once. They are kept apart from the state of their jobs, which is read often. */
export class JobInputs {
  readonly #inputs: JobCollections['inputs'];

  constructor({ inputs }: JobCollections) {
    this.#inputs = inputs;
  }

  /**
   * Saved before the jobs they belong to. One that was saved by an earlier try of the same request stays as it is.
   */
  async save(inputs: readonly StoredInput[]): Promise<void> {
    await this.#inputs.insertAbsent(inputs);
  }

  async load(jobId: string): Promise<JobInput | undefined> {
    const stored = await this.#inputs.findById(jobId);
    if (stored === undefined) return undefined;
    const { _id, accountId, createdAt, content } = stored;
    return {
      ...(JSON.parse(Buffer.from(content.value()).toString()) as JobInput),
      _id,
      accountId,
      createdAt,
    };
  }

  async delete(jobIds: readonly string[]): Promise<void> {
    if (jobIds.length > 0) await this.#inputs.deleteMany({ _id: { $in: [...jobIds] } });
  }
}

/**
 * An input in the form that it is stored in.
 *
 * @throws PlatenError INPUT_TOO_LARGE when template and data together are larger than can be kept.
 */
export function storedInput(input: JobInput): StoredInput {
  const { _id, accountId, createdAt, ...content } = input;
  const bytes = Buffer.from(JSON.stringify(content));
  if (bytes.byteLength > MAX_INPUT_BYTES) {
    throw new PlatenError(
      'INPUT_TOO_LARGE',
      `Document and data take more than ${MAX_INPUT_BYTES} bytes together.`,
    );
  }
  return { _id, accountId, createdAt, content: new mongo.Binary(bytes) };
}
