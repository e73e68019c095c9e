import { readFile } from 'node:fs/promises';
import type { Logger } from '../../telemetry/logger.ts';
import type { PoolsSettings } from './owned-objects.ts';
import { parseWorkerTemplate, type WorkerTemplate } from './worker-template.ts';

/** A mounted ConfigMap changes without a word; see docs/decisions/0045-plans-are-read-again.md. */
const LOOK_EVERY_MS = 5000;

/** The installation's template of a worker, which is read again and again. One with faults is as none. */
export class TemplateFile {
  readonly #path: string;
  readonly #others: Omit<PoolsSettings, 'template'>;
  readonly #logger: Pick<Logger, 'info' | 'error'>;
  #text: string | undefined;
  #template: WorkerTemplate | undefined;
  #fault = 'the template of a worker was not read yet';
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #stopped = false;

  constructor(path: string, others: Omit<PoolsSettings, 'template'>, logger: Pick<Logger, 'info' | 'error'>) {
    this.#path = path;
    this.#others = others;
    this.#logger = logger;
  }

  /** What is said of all pools, or why the template cannot be used. */
  get settings(): PoolsSettings | { readonly fault: string } {
    const template = this.#template;
    return template === undefined ? { fault: this.#fault } : { ...this.#others, template };
  }

  /** @param onChange told of every other content but the first. */
  async start(onChange: () => void): Promise<void> {
    await this.#look(() => undefined);
    const schedule = () => {
      if (this.#stopped) return;
      this.#timer = setTimeout(() => {
        this.#looking = this.#look(onChange).finally(schedule);
      }, LOOK_EVERY_MS);
    };
    schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(onChange: () => void): Promise<void> {
    const text = await readFile(this.#path, 'utf8').catch((error: Error) => error.message);
    if (text === this.#text) return;
    this.#text = text;
    try {
      this.#template = parseWorkerTemplate(await readFile(this.#path, 'utf8'));
      this.#logger.info({ file: this.#path }, "the workers' template has been read");
    } catch (error) {
      this.#template = undefined;
      this.#fault = (error as Error).message;
      this.#logger.error({ err: error, file: this.#path }, "the workers' template cannot be used");
    }
    onChange();
  }
}
