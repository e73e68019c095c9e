/** A server-sent event (HTML standard, section 9.2). */
export interface ServerEvent {
  readonly name: string;
  /** Of this event, or the last one before it that had one. */
  readonly id: string | undefined;
  readonly data: string;
}

/**
 * The events of a stream, one after the other.
 *
 * @throws whatever breaks the connection.
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  let id: string | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
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
