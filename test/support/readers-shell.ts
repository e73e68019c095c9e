import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** What a reader's shell does by itself, and an end at the first command or response that is an error, which is named. */
const BEGIN = `set -Eeuo pipefail
shopt -s expand_aliases
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
curl() { command curl --fail-with-body "$@"; }
`;

/** One shell for the snippets of many pages: variables, functions and aliases of one are there for the next. */
export class ReadersShell {
  readonly #folder: string;
  readonly #bash: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;
  #errors = '';
  #runs = 0;

  /** @param folder the folder in which its commands are run. */
  constructor(folder: string) {
    this.#folder = folder;
    const { PATH, HOME, JAVA_HOME } = process.env;
    const environment = { PATH, HOME, PLATEN_EMBEDDED: 'mongo-java-server', ...(JAVA_HOME && { JAVA_HOME }) };
    this.#bash = spawn('bash', [], { cwd: folder, env: environment, stdio: 'pipe' });
    this.#ended = once(this.#bash, 'close');
    this.#lines = createInterface(this.#bash.stdout)[Symbol.asyncIterator]();
    this.#bash.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
    // Of a shell that has ended: `run` says so.
    this.#bash.stdin.on('error', () => undefined).write(BEGIN);
  }

  /** Runs commands to their end. @throws Error with what they wrote to stderr, when one of them fails. */
  async run(commands: string): Promise<void> {
    this.#runs += 1;
    const [file, end] = [`commands-${this.#runs}.sh`, `end of commands ${this.#runs}`];
    await writeFile(join(this.#folder, file), commands);
    this.#errors = '';
    this.#bash.stdin.write(`. ./${file} </dev/null\necho\necho '${end}'\n`);
    for (let line: string | undefined; line !== end; ) {
      line = await this.#nextLine();
      assert.ok(line !== undefined, `The shell has ended. ${this.#errors}`);
    }
  }

  /** What a command prints next; undefined once the shell has ended. */
  async #nextLine(): Promise<string | undefined> {
    const { done, value } = await this.#lines.next();
    if (!done) return value;
    await this.#ended;
    return undefined;
  }

  async end(): Promise<void> {
    this.#bash.stdin.end();
    await this.#ended;
  }
}
