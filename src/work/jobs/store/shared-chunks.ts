import { mongo } from 'mongoose';
import type { RenderOptions } from '../../../render/options/all/render-options.ts';
import { INPUTS } from '../../inputs/inputs.ts';
import type { JobInput } from '../job.ts';
import type { StoredChunk, StoredInput } from './collections.ts';
import { storedInput } from './stored-input.ts';

/** The parts of an input that several may share in storage: its markup (document or template), and its options. */
export type ChunkName = 'markup' | 'options';

/** Characters. Shorter parts are not shared, because a reference takes nearly as much space. */
const WORTH_SHARING = 128;

/**
 * Converts inputs to their stored form, with shared parts stored once: a thousand invoices of one template store the
 * text of the template once.
 *
 * @param owner the beginning of the ids of the chunks: `<owner>/<number>`, from 0.
 * @throws PlatenError INPUT_TOO_LARGE as `storedInput` does.
 */
export function shareChunks(
  owner: string,
  inputs: readonly JobInput[],
): { inputs: StoredInput[]; chunks: StoredChunk[] } {
  const optionsText = textsOf();
  const split = inputs.map((input) => asChunks(input, optionsText(input.options)));
  const uses = new Map<string, number>();
  for (const { chunks } of split) {
    for (const text of Object.values(chunks)) uses.set(text, (uses.get(text) ?? 0) + 1);
  }
  const ids = new Map<string, string>();
  const idOf = (text: string): string | undefined => {
    if (text.length < WORTH_SHARING || (uses.get(text) ?? 0) < 2) return undefined;
    const id = ids.get(text) ?? `${owner}/${ids.size}`;
    ids.set(text, id);
    return id;
  };
  const stored = split.map(({ rest, chunks }) => {
    const markup = idOf(chunks.markup);
    const options = idOf(chunks.options);
    const own: Partial<Record<ChunkName, string>> = {
      ...(markup === undefined && { markup: chunks.markup }),
      ...(options === undefined && { options: chunks.options }),
    };
    const shared = { ...(markup !== undefined && { markup }), ...(options !== undefined && { options }) };
    return storedInput(completed(rest, own), shared);
  });
  const chunks = [...ids].map(([text, _id]) => ({ _id, content: new mongo.Binary(Buffer.from(text)) }));
  return { inputs: stored, chunks };
}

/** An input with its parts put back. */
export function completed(rest: JobInput, chunks: Readonly<Partial<Record<ChunkName, string>>>): JobInput {
  const { markup, options } = chunks;
  return {
    ...rest,
    ...(markup !== undefined && { source: INPUTS[rest.source.mode].withMarkup(rest.source, markup) }),
    ...(options !== undefined && { options: JSON.parse(options) as RenderOptions }),
  };
}

/** Options as text: those that several inputs have as one object become one text. */
function textsOf(): (options: RenderOptions) => string {
  const texts = new Map<RenderOptions, string>();
  return (options) => {
    const text = texts.get(options) ?? JSON.stringify(options);
    texts.set(options, text);
    return text;
  };
}

function asChunks(input: JobInput, options: string) {
  const { source } = input;
  const { markupOf, withMarkup } = INPUTS[source.mode];
  return {
    rest: { ...input, source: withMarkup(source, ''), options: {} },
    chunks: { markup: markupOf(source), options },
  };
}
