import { readFile } from 'node:fs/promises';
import { ordinary, Sweeper } from '../../infra/async/sweeper.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { PoolsSettings } from './owned-objects.ts';
import { parseWorkerTemplate, type WorkerTemplate } from './worker-template.ts';

/** Milliseconds. No event reports a change of a mounted ConfigMap: docs/decisions/0045-plans-are-read-again.md. */
const CHECK_EVERY_MS = 5000;

/** The installation's template of a worker, which is read repeatedly. An invalid one counts as missing. */
export class TemplateFile {
  readonly #path: string;
  readonly #others: Omit<PoolsSettings, 'template'>;
  readonly #logger: Logger;
  readonly #sweeper: Sweeper;
  #text: string | undefined;
  #template: WorkerTemplate | undefined;
  #error = 'the template of a worker was not read yet';

  constructor(path: string, others: Omit<PoolsSettings, 'template'>, logger: Logger) {
    this.#path = path;
    this.#others = others;
    this.#logger = logger;
    this.#sweeper = new Sweeper(logger);
  }

  /** The settings of all pools, or why the template cannot be used. */
  get settings(): PoolsSettings | { readonly error: string } {
    const template = this.#template;
    return template === undefined ? { error: this.#error } : { ...this.#others, template };
  }

  /** @param onChange called for every change after the first read. */
  async start(onChange: () => void): Promise<void> {
    await this.#check(() => undefined);
    this.#sweeper.start([ordinary('template', CHECK_EVERY_MS, () => this.#check(onChange))]);
  }

  stop(): Promise<void> {
    return this.#sweeper.stop();
  }

  async #check(onChange: () => void): Promise<void> {
    const text = await readFile(this.#path, 'utf8').catch((error: Error) => error.message);
    if (text === this.#text) return;
    this.#text = text;
    try {
      this.#template = parseWorkerTemplate(await readFile(this.#path, 'utf8'));
      this.#logger.info({ file: this.#path }, "the workers' template has been read");
    } catch (error) {
      this.#template = undefined;
      this.#error = (error as Error).message;
      this.#logger.error({ err: error, file: this.#path }, "the workers' template cannot be used");
    }
    onChange();
  }
}
