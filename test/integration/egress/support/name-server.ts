import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Lookup, resolverLookup } from '../../../../src/egress/lookup.ts';

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };
const NXDOMAIN = 3;
const REFUSED = 5;

/** What a name answers: addresses of both families, or one such list per look-up, the last of them for ever. */
export type Answer = readonly string[] | readonly (readonly string[])[];

/** A name server on loopback that speaks the DNS protocol (RFC 1035) over UDP, for A and AAAA questions. */
export class NameServer {
  readonly #socket: Socket;
  readonly #answers = new Map<string, Answer>();
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

  set(name: string, answer: Answer): void {
    this.#answers.set(name, answer);
  }

  /** Look-ups so far of one kind for one name. */
  asked(type: 'A' | 'AAAA', name: string): number {
    return this.questions.filter((question) => question === `${type} ${name}`).length;
  }

  /**
   * A look-up that asks this server and nothing else. It does not wait long for names that get no answer; for others it
   * does, for a machine may stand still.
   */
  lookup(): Lookup {
    const [patient, impatient] = [10_000, 500].map((timeout) =>
      resolverLookup(() => this.resolver({ timeout, tries: 1 })),
    ) as [Lookup, Lookup];
    return (name, ...rest) => (name.startsWith('silent.') ? impatient : patient)(name, ...rest);
  }

  /** A resolver that asks this server. */
  resolver(options: ConstructorParameters<typeof Resolver>[0]): Resolver {
    const resolver = new Resolver(options);
    resolver.setServers([`127.0.0.1:${(this.#socket.address() as AddressInfo).port}`]);
    return resolver;
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  /** `silent.…` names get no answer, `broken.…` names are refused, names never set do not exist. */
  #reply(query: Buffer): Buffer | undefined {
    const { name, type, end } = readQuestion(query);
    this.questions.push(`${type} ${name}`);
    if (name.startsWith('silent.')) return undefined;
    if (name.startsWith('broken.')) return message(query, end, [], REFUSED);
    const answer = this.#answers.get(name);
    if (!answer) return message(query, end, [], NXDOMAIN);
    const addresses = current(answer, this.asked(type, name)).map((text) => ipaddr.parse(text));
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

function current(answer: Answer, turn: number): readonly string[] {
  const last = answer[Math.min(turn, answer.length) - 1];
  return typeof last === 'string' || last === undefined ? (answer as readonly string[]) : last;
}

function readQuestion(query: Buffer): { name: string; type: 'A' | 'AAAA'; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query[at] !== 0) {
    const length = query[at]!;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = TYPES[query.readUInt16BE(at + 1)];
  if (!type) throw new Error('only A and AAAA are asked here');
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

/** The header and question of `query`, turned into an answer. */
function message(query: Buffer, end: number, records: readonly Buffer[], code: number): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records]);
}

/** A resource record for the name in the question, with a time to live of 0. */
function record(type: 'A' | 'AAAA', bytes: readonly number[]): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type === 'A' ? 1 : 28, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, Buffer.from(bytes)]);
}
