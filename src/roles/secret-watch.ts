import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gauge } from 'prom-client';
import { Sweeper } from '../async/sweeper.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Closers } from './component.ts';

/** The kubelet brings a change to the file within a minute or two. */
const LOOK_EVERY_MS = 60_000;

export interface SecretWatchParts {
  /** A file for each variable that was taken from a Secret, named after the variable. */
  readonly folder: string;
  /** As this process was started with. */
  readonly environment: NodeJS.ProcessEnv;
  /** 1 for a variable whose Secret says something else by now. */
  readonly outdated: Gauge<'variable'>;
  readonly logger: Logger;
}

/**
 * Notices Secrets that were rotated: a variable keeps what it was given at the start of the process, and a file of the same
 * Secret changes with it. What they hold is compared, and goes nowhere.
 */
export class SecretWatch {
  readonly #parts: SecretWatchParts;
  readonly #sweeper: Sweeper;
  readonly #said = new Set<string>();

  constructor(parts: SecretWatchParts) {
    this.#parts = parts;
    this.#sweeper = new Sweeper(parts.logger);
  }

  start(): void {
    this.#sweeper.start([
      { name: 'secrets', everyMs: LOOK_EVERY_MS, run: () => this.look().then(() => undefined) },
    ]);
  }

  /** @returns the variables whose Secret has changed. */
  async look(): Promise<string[]> {
    const { folder, environment, outdated, logger } = this.#parts;
    const changed: string[] = [];
    for (const variable of (await readdir(folder)).filter((name) => !name.startsWith('.'))) {
      const given = environment[variable];
      if (given === undefined) continue;
      const isOutdated = (await readFile(join(folder, variable), 'utf8')) !== given;
      outdated.set({ variable }, isOutdated ? 1 : 0);
      if (isOutdated) changed.push(variable);
      if (isOutdated && !this.#said.has(variable)) {
        this.#said.add(variable);
        logger.warn(
          { variable },
          `the Secret of ${variable} has changed; this process goes on with the old one`,
        );
      }
    }
    return changed;
  }

  stop(): Promise<void> {
    return this.#sweeper.stop();
  }
}

/** For a process whose Secrets are mounted besides; others have nothing to compare. */
export function startSecretWatch(
  { PLATEN_SECRETS_DIR: folder }: Pick<Config, 'PLATEN_SECRETS_DIR'>,
  metrics: Pick<Metrics, 'secretOutdated'>,
  logger: Logger,
  closers: Closers,
): void {
  if (folder === undefined) return;
  const watch = new SecretWatch({
    folder,
    environment: process.env,
    outdated: metrics.secretOutdated,
    logger,
  });
  watch.start();
  closers.add(() => watch.stop());
}
