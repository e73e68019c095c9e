import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Identity } from './seal-keys.ts';

/** The Python that has pyHanko. */
export const PYTHON = fileURLToPath(new URL('../../.cache/pdf-signatures/bin/python', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../seals/signatures.py', import.meta.url));

/** What pyHanko says of a signature. */
export interface Verdict {
  readonly intact: boolean;
  readonly valid: boolean;
  readonly trusted: boolean;
  /** All of it. */
  readonly good: boolean;
  readonly coverage: string;
  /** What has been appended since. */
  readonly modified: string;
  readonly signer: string;
  readonly reason: string | null;
  readonly location: string | null;
  readonly filter: string;
  /** Whether it has a time stamp that is valid and trusted. */
  readonly stamped: boolean;
  readonly attributes: readonly string[];
}

interface SignOptions {
  readonly chain?: readonly string[];
  readonly algorithm?: string;
  /** With the time of signing as an attribute. Default false. */
  readonly timed?: boolean;
}

/** pyHanko in a process of its own: `make pdf-signatures` installs it. */
export class Signatures {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;
  readonly #waiting: ((line: string) => void)[] = [];

  constructor() {
    this.#child = spawn(PYTHON, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#ended = new Promise((_, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', () => reject(new Error('pyHanko has ended.')));
    });
    this.#ended.catch(() => undefined);
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#waiting.shift()?.(line));
  }

  /** The CMS of a digest. */
  async sign(digest: Uint8Array, { cert, key }: Identity, options: SignOptions = {}): Promise<Buffer> {
    const { chain = [], algorithm = 'sha256', timed = false } = options;
    const asked = { digest: Buffer.from(digest).toString('base64'), algorithm, timed, cert, key, chain };
    const { cms } = await this.#call<{ cms: string }>({ do: 'sign', ...asked });
    return Buffer.from(cms, 'base64');
  }

  /** A PKCS #12 file with a key and with certificates in this order, whosever they are. */
  async pkcs12(key: string, certs: readonly string[], password: string): Promise<Buffer> {
    const { file } = await this.#call<{ file: string }>({ do: 'pkcs12', key, certs, password });
    return Buffer.from(file, 'base64');
  }

  async verdicts(pdf: Uint8Array, ...authorities: readonly string[]): Promise<readonly Verdict[]> {
    return await this.#verify(pdf, authorities, false);
  }

  /** By the certificates, OCSP responses and revocation lists of the PDF, which have to prove all certificates. */
  async verdictsLater(pdf: Uint8Array, ...authorities: readonly string[]): Promise<readonly Verdict[]> {
    return await this.#verify(pdf, authorities, true);
  }

  async #verify(
    pdf: Uint8Array,
    authorities: readonly string[],
    stored: boolean,
  ): Promise<readonly Verdict[]> {
    const folder = await mkdtemp(join(tmpdir(), 'platen-verdict-'));
    try {
      const path = join(folder, 'sealed.pdf');
      await writeFile(path, pdf);
      const call = { do: 'verify', pdf: path, authorities, stored };
      return (await this.#call<{ signatures: Verdict[] }>(call)).signatures;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  close(): void {
    this.#child.stdin!.end();
  }

  async #call<Reply>(call: object): Promise<Reply> {
    const line = new Promise<string>((resolve) => this.#waiting.push(resolve));
    this.#child.stdin!.write(`${JSON.stringify(call)}\n`);
    const reply = JSON.parse(await Promise.race([line, this.#ended])) as Reply & { error?: string };
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply;
  }
}
