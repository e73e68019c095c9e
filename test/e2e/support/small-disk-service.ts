import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/ports.ts';
import { descendants } from '../../support/processes.ts';
import { PROGRAM } from '../../support/program.ts';
import type { Reply } from '../../support/send.ts';
import { makeSmallDisk, type SmallDisk } from '../../support/small-disk.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const KEY = `sk_live_${'given-by-the-operator-0123456789'.padEnd(40, 'x')}`;
export const OWNER = { email: 'first@example.com', password: 'a password for tests' };

/** A standalone service whose database, PDFs and log are all on one small disk. */
export class SmallDiskService {
  readonly disk: SmallDisk;
  readonly client: TestClient;
  readonly #scratch: string;
  #process: ChildProcess | undefined;

  private constructor(scratch: string, disk: SmallDisk, port: number) {
    this.#scratch = scratch;
    this.disk = disk;
    this.client = new TestClient(`http://127.0.0.1:${port}`, KEY);
  }

  static async open(bytes: number): Promise<SmallDiskService> {
    const scratch = await mkdtemp(join(tmpdir(), 'platen-full-'));
    const service = new SmallDiskService(scratch, await makeSmallDisk(scratch, bytes), await freePort());
    await service.start();
    return service;
  }

  get process(): ChildProcess {
    return this.#process!;
  }

  async start(): Promise<void> {
    const { runner, folder } = this.disk;
    const command = [runner, 'sh', '-c', 'exec "$0" "$2" standalone >> "$1/log"'];
    this.#process = spawn(command[0]!, [...command.slice(1), process.execPath, folder, PROGRAM], {
      cwd: root,
      env: {
        ...process.env,
        PORT: new URL(this.client.url).port,
        PLATEN_DATA_DIR: join(folder, 'data'),
        PLATEN_BOOTSTRAP_EMAIL: OWNER.email,
        PLATEN_BOOTSTRAP_PASSWORD: OWNER.password,
        PLATEN_BOOTSTRAP_PLAN: 'business',
        PLATEN_BOOTSTRAP_API_KEY: KEY,
        PLATEN_REGISTRATIONS_PER_ADDRESS: '1000',
        PLATEN_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
        PLATEN_WORKER_SLOTS: '2',
        PLATEN_LEASE_MS: '3000',
      },
      stdio: 'ignore',
    });
    await this.becomesReady();
  }

  readiness(): Promise<Reply | undefined> {
    return this.client.call('GET', '/readyz').catch(() => undefined);
  }

  async becomesReady(): Promise<void> {
    await eventually('ready', async () => (await this.readiness())?.status === 200);
  }

  /** Every JSON line of its log so far; a line that the full disk has cut off is none. */
  async logLines(): Promise<Record<string, unknown>[]> {
    return (await readFile(join(this.disk.seen, 'log'), 'utf8')).split('\n').flatMap(parsed);
  }

  /** Kills it, and its database before that, which would else write all that it has. */
  async kill(): Promise<void> {
    const database = descendants(this.process.pid!).find(({ command }) =>
      command.includes('EmbeddedDatabase'),
    );
    process.kill(database!.pid, 'SIGKILL');
    this.process.kill('SIGKILL');
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
  }

  async close(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGTERM');
      await once(this.process, 'exit');
    }
    this.disk.close();
    await rm(this.#scratch, { recursive: true, force: true });
  }
}

function parsed(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
