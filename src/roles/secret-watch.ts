import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gauge } from 'prom-client';
import { Sweeper } from '../async/sweeper.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Closers } from './component.ts';

/** In milliseconds. The kubelet updates the file within a minute or two. */
const CHECK_EVERY_MS = 60_000;

interface SecretWatchDeps {
  /** A file for each variable that was taken from a Secret, named after the variable. */
  readonly folder: string;
  /** The variables that this process was started with. */
  readonly environment: NodeJS.ProcessEnv;
  /** 1 for a variable whose Secret has changed since. */
  readonly outdated: Gauge<'variable'>;
  readonly logger: Logger;
}

/**
 * Notices rotated Secrets: a variable keeps its value from the start of the process, while a file of the same Secret
 * changes. The values are only compared.
 */
export class SecretWatch {
  readonly #deps: SecretWatchDeps;
  readonly #sweeper: Sweeper;
  readonly #reported = new Set<string>();

  constructor(deps: SecretWatchDeps) {
    this.#deps = deps;
    this.#sweeper = new Sweeper(deps.logger);
  }

  start(): void {
    this.#sweeper.start([
      { name: 'secrets', everyMs: CHECK_EVERY_MS, run: () => this.check().then(() => undefined) },
    ]);
  }

  /** @returns the variables whose Secret has changed. */
  async check(): Promise<string[]> {
    const { folder, environment, outdated, logger } = this.#deps;
    const changed: string[] = [];
    for (const variable of (await readdir(folder)).filter((name) => !name.startsWith('.'))) {
      const given = environment[variable];
      if (given === undefined) continue;
      const isOutdated = (await readFile(join(folder, variable), 'utf8')) !== given;
      outdated.set({ variable }, isOutdated ? 1 : 0);
      if (isOutdated) changed.push(variable);
      if (isOutdated && !this.#reported.has(variable)) {
        this.#reported.add(variable);
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

/** For a process with mounted Secrets; others have nothing to compare. */
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
