import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { EgressProxy } from '../../../../src/infra/egress/proxy.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A bare connection to the proxy: what a browser sends, byte for byte. */
export async function dial(proxy: Pick<EgressProxy, 'url'>): Promise<Socket> {
  const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Sends `text` and reads until the connection ends. */
export async function exchange(proxy: Pick<EgressProxy, 'url'>, text: string): Promise<Reply> {
  const socket = await dial(proxy);
  socket.write(text);
  return parseReply(await readAll(socket));
}

/** A plain-http request, as a browser makes it through a proxy. */
export function get(proxy: Pick<EgressProxy, 'url'>, url: string, headers = ''): Promise<Reply> {
  const { host } = new URL(url);
  return exchange(proxy, `GET ${url} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`);
}

/** Opens a tunnel; the socket is the far end's when the status is 200. */
export async function tunnel(
  proxy: Pick<EgressProxy, 'url'>,
  target: string,
): Promise<Reply & { socket: Socket }> {
  const socket = await dial(proxy);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const reply = parseReply(await readHead(socket));
  if (reply.status === 200) return { ...reply, socket };
  const body = await readAll(socket);
  return { ...reply, body: reply.body + body, socket };
}

/** Everything until the other side ends the connection. */
export async function readAll(socket: Socket): Promise<string> {
  let text = '';
  if (socket.destroyed) return text;
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

/** Up to the empty line after the headers, or the end. */
export async function readHead(socket: Socket): Promise<string> {
  let text = '';
  return await new Promise((resolve) => {
    const finish = () => {
      socket.off('data', take);
      socket.off('close', finish);
      resolve(text);
    };
    const take = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.includes('\r\n\r\n')) finish();
    };
    socket.on('data', take);
    socket.once('close', finish);
  });
}

export function parseReply(text: string): Reply {
  const [head = '', ...body] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, body: body.join('\r\n\r\n') };
}
