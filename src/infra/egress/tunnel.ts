import type { Socket } from 'node:net';

/** How long a peer that has received everything may keep its end open, in milliseconds. */
const LINGER_MS = 1000;

/** How long a browser may read nothing of what is still to be sent, in milliseconds. */
const STALL_MS = 60_000;

/** Bytes that are kept of what a browser sends before its tunnel is open. */
const MAX_EARLY_BYTES = 64 * 1024;

/**
 * Keeps reading from `client` while its connection is being made: only reading shows that the other side has left. The
 * returned function stops that, and returns what has arrived, `head` first.
 */
export function holdBack(client: Socket, head: Buffer): () => Buffer {
  const early = [head];
  let bytes = head.length;
  const keep = (chunk: Buffer) => {
    early.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_EARLY_BYTES) client.pause();
  };
  const leave = () => client.destroy();
  client.on('data', keep).once('end', leave);
  return () => {
    client.pause();
    client.off('data', keep).off('end', leave);
    return Buffer.concat(early);
  };
}

/**
 * Passes bytes both ways between the browser and the origin until either side is done; `head` is what the browser sent
 * in advance. Back-pressure is kept, and once one side is gone the other is closed.
 */
export function splice(client: Socket, upstream: Socket, head: Buffer): void {
  if (head.length > 0) upstream.write(head);
  client.once('close', () => upstream.destroy());
  // Also after an error, which may only mean that the browser kept sending: what has arrived is still passed on.
  upstream.once('close', () => endGently(client));
  // A browser that has left looks like one that has only ended its side: sending to it shows the difference.
  client.once('end', () => upstream.setTimeout(LINGER_MS));
  client.pipe(upstream);
  upstream.pipe(client);
}

/**
 * Ends `socket` after `text` without losing it: destroying it at once would respond to unread bytes with a reset, and a
 * reset makes the peer discard what it has not read either.
 */
export function endGently(socket: Socket, text?: string): void {
  if (socket.destroyed) return;
  const linger = () => socket.setTimeout(LINGER_MS);
  socket.resume();
  socket.setTimeout(STALL_MS, () => socket.destroy());
  if (socket.writableFinished) linger();
  else socket.once('finish', linger);
  // An empty write after an end is an error like any other write.
  if (text === undefined) socket.end();
  else socket.end(text);
}
