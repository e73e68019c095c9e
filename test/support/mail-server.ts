import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface Delivered {
  readonly from: string;
  readonly to: readonly string[];
  /** The message as it came, with its header. */
  readonly message: string;
}

/** A real mail server, which keeps what it takes. */
export class MailServer {
  readonly delivered: Delivered[] = [];
  /** Its decision on a message: undefined to accept it, or the code and text of the rejection. */
  rejects: (delivered: Delivered) => { code: number; message: string } | undefined = () => undefined;
  readonly #server: SMTPServer;

  private constructor(user: { name: string; password: string } | undefined) {
    this.#server = new SMTPServer({
      disabledCommands: user === undefined ? ['AUTH', 'STARTTLS'] : ['STARTTLS'],
      authOptional: user === undefined,
      onAuth: (given, _session, callback) => {
        const right = given.username === user?.name && given.password === user?.password;
        callback(right ? null : new Error('Wrong password'), { user: given.username });
      },
      onData: (stream, { envelope }, callback) => {
        let message = '';
        stream.setEncoding('utf8');
        stream.on('data', (chunk: string) => {
          message += chunk;
        });
        stream.on('end', () => {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          const delivered = { from, to: envelope.rcptTo.map(({ address }) => address), message };
          const error = this.rejects(delivered);
          if (error === undefined) this.delivered.push(delivered);
          callback(error && Object.assign(new Error(error.message), { responseCode: error.code }));
        });
      },
    });
  }

  static async start(user?: { name: string; password: string }): Promise<MailServer> {
    const started = new MailServer(user);
    const listening = started.#server.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    return started;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
