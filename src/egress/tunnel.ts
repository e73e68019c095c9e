import type { Socket } from 'node:net';

/** How long a peer gets to take the last bytes, in milliseconds. */
const LINGER_MS = 1000;

/**
 * Passes bytes both ways between the browser and the origin until either side is done; `head` is what the browser
 * sent ahead. Back-pressure is kept, and once one side is gone the other does not outlive it.
 */
export function splice(client: Socket, upstream: Socket, head: Buffer): void {
  if (head.length > 0) upstream.write(head);
  upstream.on('error', () => client.destroy());
  client.once('close', () => upstream.destroy());
  upstream.once('close', () => endGently(client));
  client.pipe(upstream);
  upstream.pipe(client);
}

/**
 * Ends `socket` after `text` without losing it: destroying at once would answer bytes still unread with a reset, and
 * a reset makes the peer throw away what it has not read either.
 */
export function endGently(socket: Socket, text = ''): void {
  if (socket.destroyed) return;
  socket.end(text);
  socket.resume();
  socket.setTimeout(LINGER_MS, () => socket.destroy());
}
