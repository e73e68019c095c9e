import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from './control-plane.ts';

/** A proxy to the API server that can be cut: nothing is closed or refused, nothing arrives any more. */
export interface SeverableWay {
  readonly kubeconfigPath: string;
  cut(): void;
  /** New connections get through; connections that were open when it was cut stay dead. */
  repair(): void;
  stop(): Promise<void>;
}

export async function severableWay({ url, kubeconfigPath }: ControlPlane): Promise<SeverableWay> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (isCut) return;
    const far = connect(Number(target.port), target.hostname);
    keep(far);
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const path = join(tmpdir(), `platen-kubeconfig-${randomUUID()}`);
  const kubeconfig = await readFile(kubeconfigPath, 'utf8');
  await writeFile(path, kubeconfig.replaceAll(url, `https://127.0.0.1:${port}`));
  return {
    kubeconfigPath: path,
    cut: () => {
      isCut = true;
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    repair: () => {
      isCut = false;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(path, { force: true });
    },
  };
}
