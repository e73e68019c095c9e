import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Forwards connections to a port of loopback, in a process of its own, and writes its own port. */
const FORWARD = `
const { connect, createServer } = require('node:net');
const server = createServer((socket) => {
  const behind = connect(Number(process.argv[1]), '127.0.0.1');
  socket.pipe(behind).pipe(socket);
  socket.on('error', () => behind.destroy());
  behind.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
`;

/** A server that can hang: while it is suspended, it accepts connections and responds to nothing. */
export interface SuspendableFront {
  readonly port: number;
  suspend(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** @param port of the server behind it. */
export async function startFront(port: number): Promise<SuspendableFront> {
  // Its input ends with this process.
  const child = spawn(process.execPath, ['-e', FORWARD, String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    port: Number(line.toString()),
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
