/** A server-sent event (HTML standard, section 9.2). */
export interface ServerEvent {
  readonly name: string;
  /** Of this event, or the last one before it that had one. */
  readonly id: string | undefined;
  readonly data: string;
}

/** Nothing was heard for too long. */
export class SilenceError extends Error {
  constructor() {
    super('Nothing was heard for too long.');
    this.name = 'SilenceError';
  }
}

/**
 * The events of a stream, one after the other.
 *
 * @param silenceMs a connection that brings nothing for so long, not even a comment, is dead.
 * @throws whatever breaks the connection; SilenceError.
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  let id: string | undefined;
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read(), silenceMs);
      if (done) return;
      const blocks = (rest + value).split(/\r\n\r\n|\n\n|\r\r/);
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = parse(block, id);
        id = event.id;
        if (event.data !== '') yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse(block: string, lastId: string | undefined): ServerEvent {
  let name = 'message';
  let id = lastId;
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, field, value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'event') name = value;
    else if (field === 'id') id = value;
    else if (field === 'data') data.push(value);
  }
  return { name, id, data: data.join('\n') };
}

async function withinSilence<T>(reading: Promise<T>, silenceMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SilenceError()), silenceMs);
  });
  try {
    return await Promise.race([reading, silence]);
  } finally {
    clearTimeout(timer);
  }
}
