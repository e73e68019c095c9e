import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { socketPathOf } from './database-way.ts';

/** A way over TCP to the embedded database on which the commands are counted. */
export interface CountedWay {
  /** Connection string over TCP. */
  readonly uri: string;
  /** Commands by `<name> <collection>` since the last call, and their bytes. */
  take(): ReadonlyMap<string, { readonly commands: number; readonly bytes: number }>;
  close(): void;
}

const HEADER_BYTES = 16;
const OP_MSG = 2013;
/** After the header: flags, and the kind of the first section. */
const SECTION_BYTES = 5;
const BSON_STRING = 2;
/** What the driver sends by itself. */
const OF_DRIVER = new Set([
  'hello',
  'ismaster',
  'isMaster',
  'ping',
  'endSessions',
  'killCursors',
  'buildInfo',
]);

/** @param delayMs for which each response is held back: as of a database that is far away. */
export async function openCountedWay(uri: string, delayMs = 0): Promise<CountedWay> {
  const path = socketPathOf(uri);
  let counts = new Map<string, { commands: number; bytes: number }>();
  const sockets = new Set<Socket>();
  const note = (message: Buffer) => {
    const command = commandIn(message);
    if (command === undefined) return;
    const sum = counts.get(command) ?? { commands: 0, bytes: 0 };
    counts.set(command, { commands: sum.commands + 1, bytes: sum.bytes + message.length });
  };
  const server = createServer((client) => {
    const upstream = connect(path);
    let read: Buffer = Buffer.alloc(0);
    client.on('data', (chunk) => {
      read = Buffer.concat([read, chunk]);
      while (read.length >= HEADER_BYTES && read.length >= read.readInt32LE(0)) {
        const length = read.readInt32LE(0);
        note(read.subarray(0, length));
        read = read.subarray(length);
      }
    });
    client.pipe(upstream);
    if (delayMs === 0) upstream.pipe(client);
    else upstream.on('data', (chunk) => setTimeout(() => client.write(chunk), delayMs));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    uri: uri.replace(/^mongodb:\/\/[^/]+/, `mongodb://127.0.0.1:${port}`),
    take() {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** The first element of a command is its name, and its value the collection. Undefined for what the driver sends itself. */
function commandIn(message: Buffer): string | undefined {
  if (message.readInt32LE(12) !== OP_MSG) return undefined;
  const element = HEADER_BYTES + SECTION_BYTES + 4;
  const end = message.indexOf(0, element + 1);
  const name = message.toString('utf8', element + 1, end);
  if (OF_DRIVER.has(name)) return undefined;
  if (message[element] !== BSON_STRING) return name;
  const length = message.readInt32LE(end + 1);
  return `${name} ${message.toString('utf8', end + 5, end + 5 + length - 1)}`;
}
