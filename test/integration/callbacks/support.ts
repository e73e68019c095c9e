import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import type { Agent } from 'undici';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { createGuardedAgent } from '../../../src/infra/egress/guarded-agent.ts';
import type { Lookup } from '../../../src/infra/egress/lookup.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { type Delivery, newDelivery } from '../../../src/work/callbacks/delivery.ts';
import { createPost } from '../../../src/work/callbacks/post.ts';
import { CallbackSender, type CallbackSenderDeps } from '../../../src/work/callbacks/sender.ts';
import type { Domain } from '../../support/domain.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../egress/support/certificate.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** Takes callbacks over https at an address that stands for the public internet. */
export class Receiver {
  readonly #server: Server;
  readonly received: Received[] = [];
  /** Its response; default 204. */
  respond: Respond = (_request, response) => response.writeHead(204).end();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      this.received.push({ path: request.url ?? '', headers: request.headers, body });
      this.respond(request, response);
    });
  }

  static async start(): Promise<Receiver> {
    const server = createServer({ key: PRIVATE_KEY, cert: CERTIFICATE });
    server.listen(0, '127.9.9.1');
    await once(server, 'listening');
    return new Receiver(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path = '/hook'): string {
    return `https://127.9.9.1:${this.port}${path}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Reaches 127.9.9.0/24 and trusts what the receiver shows; nothing else that is private is open. */
export function testAgent(lookup?: Lookup): Agent {
  return createGuardedAgent({
    policy: createAddressPolicy({ allowedNetworks: parseNetworks(['127.9.9.0/24']) }),
    ca: CERTIFICATE,
    ...(lookup && { lookup }),
  });
}

export function openSender(
  domain: Pick<Domain, 'callbacks' | 'clock'> & {
    readonly batches: { readonly store: CallbackSenderDeps['batches'] };
  },
  agent: Agent,
  { timeoutMs = 10_000, ...overrides }: Partial<CallbackSenderDeps> & { timeoutMs?: number } = {},
): CallbackSender {
  return new CallbackSender({
    ...domain.callbacks,
    accounts: { find: async () => undefined },
    batches: domain.batches.store,
    clock: domain.clock,
    post: createPost(agent, timeoutMs),
    publicUrl: () => 'https://platen.test/',
    headerPrefix: 'X-Service-',
    random: () => 0.5,
    logger: pino({ level: 'silent' }),
    observe: () => undefined,
    ...overrides,
  });
}

/** Schedules the callback of a completed render. */
export async function scheduleCallback(
  { callbacks, clock }: Pick<Domain, 'callbacks' | 'clock'>,
  url: string,
  accountId: string = randomUUID(),
): Promise<Delivery> {
  const jobId = randomUUID();
  const now = clock.now();
  const statusUrl = `/v1/pdf/jobs/${jobId}`;
  const delivery = newDelivery(
    { accountId },
    url,
    {
      event: 'render.completed',
      jobId,
      status: 'completed',
      statusUrl,
      fileUrl: `${statusUrl}/file`,
      completedAt: now.toISOString(),
    },
    now,
  );
  await callbacks.deliveries.add([delivery]);
  return delivery;
}
