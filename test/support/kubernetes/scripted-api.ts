import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTimers, type Timers } from '../../../src/infra/async/timers.ts';
import type { ConfigMap } from './objects.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** On the clock of the timers that the server was started with. */
  readonly atMs: number;
}

export type Script = (asked: SeenRequest, response: ServerResponse, n: number) => void;

/** An HTTP server with scripted responses: for errors that a real API server cannot be made to have. */
export interface ScriptedApi {
  readonly kubeconfigPath: string;
  readonly requests: readonly SeenRequest[];
  /** Connections that were ever opened. */
  readonly connections: number;
  setToken(token: string): Promise<void>;
  stop(): Promise<void>;
}

/** @param script responds to the n-th request, beginning with 0. */
export async function startScriptedApi(script: Script, timers: Timers = systemTimers): Promise<ScriptedApi> {
  const requests: SeenRequest[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const { method = '', headers } = request;
    const one = { method, path: pathname, query: searchParams, headers, atMs: timers.nowMs() };
    requests.push(one);
    request.resume();
    script(one, response, requests.length - 1);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfigPath = join(tmpdir(), `platen-kubeconfig-${randomUUID()}`);
  const tokenFile = `${kubeconfigPath}-token`;
  await writeFile(tokenFile, 'first');
  await writeFile(kubeconfigPath, kubeconfig(url, tokenFile));
  return {
    kubeconfigPath,
    requests,
    get connections() {
      return connections;
    },
    setToken: (token) => writeFile(tokenFile, token),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(kubeconfigPath, { force: true });
      await rm(tokenFile, { force: true });
    },
  };
}

export function reply(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** metav1.Status */
export function status(code: number, reason: string): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: `scripted: ${reason}`,
  };
}

export function mapOf(name: string, resourceVersion: number, data: Record<string, string> = {}): ConfigMap {
  const metadata = { namespace: 'ns', name, resourceVersion: String(resourceVersion) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

export function listOf(resourceVersion: number, items: readonly ConfigMap[], continueAt?: string): object {
  const metadata = { resourceVersion: String(resourceVersion), ...(continueAt && { continue: continueAt }) };
  return { kind: 'ConfigMapList', apiVersion: 'v1', metadata, items };
}

/** Begins a watch. */
export function openWatch(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
}

export function sendEvent(response: ServerResponse, type: string, object: object): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}

function kubeconfig(server: string, tokenFile: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'scripted',
    contexts: [{ name: 'scripted', context: { cluster: 'scripted', user: 'scripted' } }],
    // Without TLS the library insists that nothing is verified.
    clusters: [{ name: 'scripted', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'scripted', user: { 'auth-provider': { name: 'file', config: { tokenFile } } } }],
  });
}
