import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Lookup, resolverLookup } from '../../../../src/infra/egress/lookup.ts';

const TYPE_NUMBERS = { A: 1, TXT: 16, AAAA: 28 } as const;
type Type = keyof typeof TYPE_NUMBERS;
const NXDOMAIN = 3;
const REFUSED = 5;

/** The response for a name: addresses of both families, or one such list per look-up, the last of them for ever. */
export type Reply = readonly string[] | readonly (readonly string[])[];

/** A name server on loopback that speaks the DNS protocol (RFC 1035) over UDP, for A, AAAA and TXT questions. */
export class NameServer {
  readonly #socket: Socket;
  readonly #responses = new Map<string, Reply>();
  readonly #texts = new Map<string, readonly (readonly string[])[]>();
  /** Questions so far, as `A name`. */
  readonly questions: string[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (query, peer) => {
      const reply = this.#reply(query);
      if (reply) socket.send(reply, peer.port, peer.address);
    });
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket);
  }

  set(name: string, response: Reply): void {
    this.#responses.set(name, response);
  }

  /** @param records the strings of each TXT record. */
  setTexts(name: string, records: readonly (readonly string[])[]): void {
    this.#texts.set(name, records);
  }

  /** Queries of one kind for one name so far. */
  asked(type: Type, name: string): number {
    return this.questions.filter((question) => question === `${type} ${name}`).length;
  }

  /**
   * A look-up that queries only this server. It does not wait long for names without a response; for others it does,
   * since a machine may be slow.
   */
  lookup(): Lookup {
    const [patient, impatient] = [10_000, 500].map((timeout) =>
      resolverLookup(() => this.resolver({ timeout, tries: 1 })),
    ) as [Lookup, Lookup];
    return (name, ...rest) => (name.startsWith('silent.') ? impatient : patient)(name, ...rest);
  }

  /** A resolver that queries this server. */
  resolver(options: ConstructorParameters<typeof Resolver>[0]): Resolver {
    const resolver = new Resolver(options);
    resolver.setServers([`127.0.0.1:${(this.#socket.address() as AddressInfo).port}`]);
    return resolver;
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  /** `silent.…` names get no response, `broken.…` names are refused, names never set do not exist. */
  #reply(query: Buffer): Buffer | undefined {
    const { name, type, end } = readQuestion(query);
    this.questions.push(`${type} ${name}`);
    if (name.startsWith('silent.')) return undefined;
    if (name.startsWith('broken.')) return message(query, end, [], REFUSED);
    const texts = type === 'TXT' ? this.#texts.get(name) : undefined;
    if (texts)
      return message(
        query,
        end,
        texts.map((strings) => record(type, textBytes(strings))),
        0,
      );
    const response = this.#responses.get(name);
    if (!response) return message(query, end, [], NXDOMAIN);
    const addresses = current(response, this.asked(type, name)).map((text) => ipaddr.parse(text));
    const kind = type === 'A' ? 'ipv4' : 'ipv6';
    const records = addresses.filter((address) => address.kind() === kind);
    return message(
      query,
      end,
      records.map((address) => record(type, address.toByteArray())),
      0,
    );
  }
}

function current(response: Reply, round: number): readonly string[] {
  const last = response[Math.min(round, response.length) - 1];
  return typeof last === 'string' || last === undefined ? (response as readonly string[]) : last;
}

function readQuestion(query: Buffer): { name: string; type: Type; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query[at] !== 0) {
    const length = query[at]!;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const asked = query.readUInt16BE(at + 1);
  const type = (Object.keys(TYPE_NUMBERS) as Type[]).find((each) => TYPE_NUMBERS[each] === asked);
  if (!type) throw new Error(`nothing is asked here by type ${asked}`);
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

/** The header and question of `query`, made into a response. */
function message(query: Buffer, end: number, records: readonly Buffer[], code: number): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records]);
}

/** A resource record for the name in the question, with a time to live of 0. */
function record(type: Type, bytes: readonly number[]): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(TYPE_NUMBERS[type], 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, Buffer.from(bytes)]);
}

/** Each string behind its length (RFC 1035, section 3.3.14). */
function textBytes(strings: readonly string[]): number[] {
  return strings.flatMap((text) => [text.length, ...Buffer.from(text)]);
}
