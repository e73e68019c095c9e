import { PlatenError } from '../../infra/errors/registry.ts';
import { parseJson } from './read-json.ts';
import type { FormBody } from './route.ts';

export const FORM_TYPE = 'multipart/form-data';
/** Parts of one body. */
const MAX_PARTS = 20;
/** RFC 2046, section 5.1.1, has at most 70 characters. */
const BOUNDARY = /;\s*boundary="?([^";\s]{1,70})/i;

/**
 * Reads a body in parts, as the fields of the JSON body that it stands for.
 *
 * @param bytes a whole body, whose size has been checked.
 * @throws PlatenError VALIDATION for a body that is not in parts, has too many of them, or one twice, or a file in place of a
 * text; MALFORMED_JSON for a part that is to be JSON.
 */
export async function readForm(
  bytes: Buffer,
  contentType: string,
  { file, json }: FormBody,
): Promise<Readonly<Record<string, unknown>>> {
  const fields: [name: string, value: unknown][] = [];
  const names = new Set<string>();
  for (const [part, value] of await partsOf(bytes, contentType)) {
    if (names.has(part)) throw invalid(`part ${quoted(part)} is given twice`);
    names.add(part);
    if (part === file.part) {
      if (typeof value === 'string')
        throw invalid(`part ${quoted(part)} must be a file: give it a file name`);
      fields.push([file.field, Buffer.from(await value.arrayBuffer()).toString('base64')]);
    } else {
      const text = typeof value === 'string' ? value : await value.text();
      fields.push([part, json.includes(part) ? parsed(part, text) : text]);
    }
  }
  return Object.fromEntries(fields);
}

async function partsOf(bytes: Buffer, contentType: string) {
  const boundary = BOUNDARY.exec(contentType)?.[1];
  if (boundary === undefined) throw invalid('Content-Type has no boundary');
  // The delimiter of the end is one more.
  if (countUpTo(bytes, `--${boundary}`, MAX_PARTS + 2) > MAX_PARTS + 1)
    throw invalid(`must have at most ${MAX_PARTS} parts`);
  try {
    return await new Response(
      new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength),
      { headers: { 'Content-Type': contentType } },
    ).formData();
  } catch {
    throw invalid(`is no ${FORM_TYPE}: build it by a library, and let that set Content-Type`);
  }
}

/** How often a text is in some bytes; `most` when it is there at least as often. */
function countUpTo(bytes: Buffer, text: string, most: number): number {
  let count = 0;
  for (let at = bytes.indexOf(text); at >= 0 && count < most; at = bytes.indexOf(text, at + text.length))
    count += 1;
  return count;
}

function parsed(part: string, text: string): unknown {
  try {
    return parseJson(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof PlatenError)) throw error;
    throw new PlatenError(error.code, error.message.replace('The body', `The part ${quoted(part)}`), {
      cause: error,
    });
  }
}

const MAX_NAME = 64;

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, MAX_NAME));
}

function invalid(error: string): PlatenError {
  const message = `body: ${error}`;
  return new PlatenError('VALIDATION', message, { details: [message] });
}
