import { KubernetesError } from '../kubernetes-error.ts';
import type { KubeObject } from './kube-object.ts';
import type { WatchEvent } from './kubernetes-api.ts';
import { errorOfEvent } from './server-error.ts';

/** In bytes. etcd takes no object above 1.5 MiB by default; a far longer line is no event of a watch. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/** One JSON document per line. @throws KubernetesError for an event of type ERROR, and for a line that is none. */
export async function* readWatchEvents<T extends KubeObject>(
  call: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of lines(call, chunks)) {
    const event = parse<T>(call, line);
    if (event.type === 'ERROR') throw errorOfEvent(call, event.object);
    yield event;
  }
}

async function* lines(call: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      begun.push(chunk.subarray(from, end));
      const line = Buffer.concat(begun).toString('utf8');
      begun = [];
      bytes = 0;
      from = end + 1;
      if (line !== '') yield line;
    }
    bytes += chunk.length - from;
    if (bytes > MAX_LINE_BYTES) throw malformed(call, `a line has more than ${MAX_LINE_BYTES} bytes`);
    begun.push(chunk.subarray(from));
  }
}

function parse<T extends KubeObject>(
  call: string,
  line: string,
): WatchEvent<T> | { type: 'ERROR'; object: unknown } {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw malformed(call, 'a line is no JSON', cause);
  }
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
    throw malformed(call, 'a line is no event');
  }
  return event as WatchEvent<T>;
}

function malformed(call: string, what: string, cause?: unknown): KubernetesError {
  return new KubernetesError(`${call}: ${what}`, { status: 0, reason: 'MalformedWatch', cause });
}
