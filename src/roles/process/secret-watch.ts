import { X509Certificate } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gauge } from 'prom-client';
import type { Config } from '../../config/config.ts';
import { Sweeper } from '../../infra/async/sweeper.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { Closers } from './component.ts';
import type { SecretMetrics } from './secret-metrics.ts';

/** In milliseconds. The kubelet updates the file within a minute or two. */
const CHECK_EVERY_MS = 60_000;

/** Variables that name files which are read when a process starts, or with its first connection. */
const FILE_VARIABLES = [
  'MONGODB_TLS_CERT',
  'MONGODB_TLS_KEY',
  'KAFKA_SSL_CA',
  'KAFKA_SSL_CERT',
  'KAFKA_SSL_KEY',
  'NODE_EXTRA_CA_CERTS',
] as const;
/** Those whose file begins with the certificate that this process shows. */
const SHOWN: ReadonlySet<string> = new Set(['MONGODB_TLS_CERT', 'KAFKA_SSL_CERT']);

interface SecretWatchDeps {
  /** A file for each variable that was taken from a Secret, named after the variable; undefined for none. */
  readonly folder: string | undefined;
  /** The variables that this process was started with. */
  readonly environment: NodeJS.ProcessEnv;
  /** 1 for a variable whose Secret has changed since. */
  readonly outdated: Gauge<'variable'>;
  /** When the certificate ends that this process shows, in seconds since the epoch. */
  readonly certificateEnds: Gauge<'variable'>;
  readonly logger: Logger;
}

/**
 * Notices rotated Secrets and renewed certificates: a process keeps the values of its variables, and what it has read of
 * files, while the files of the same Secrets change. They are only compared.
 */
export class SecretWatch {
  readonly #deps: SecretWatchDeps;
  readonly #sweeper: Sweeper;
  readonly #reported = new Set<string>();
  /** The contents of files when this was started, by variable. */
  readonly #started = new Map<string, string>();

  constructor(deps: SecretWatchDeps) {
    this.#deps = deps;
    this.#sweeper = new Sweeper(deps.logger);
  }

  /** The first check, at once, reads what later ones compare files with. */
  start(): void {
    this.#sweeper.start([
      { name: 'secrets', everyMs: CHECK_EVERY_MS, run: () => this.check().then(() => undefined) },
    ]);
  }

  /** @returns the variables whose Secret or file has changed. */
  async check(): Promise<string[]> {
    return [...(await this.#changedValues()), ...(await this.#changedFiles())];
  }

  async #changedValues(): Promise<string[]> {
    const { folder, environment } = this.#deps;
    const changed: string[] = [];
    if (folder === undefined) return changed;
    for (const variable of (await readdir(folder)).filter((name) => !name.startsWith('.'))) {
      const given = environment[variable];
      if (given === undefined) continue;
      if (this.#isOutdated(variable, given, await readFile(join(folder, variable), 'utf8'))) {
        changed.push(variable);
      }
    }
    return changed;
  }

  async #changedFiles(): Promise<string[]> {
    const changed: string[] = [];
    for (const variable of FILE_VARIABLES) {
      const path = this.#deps.environment[variable];
      // A file that is missing or no file (KAFKA_SSL_CA may be `system`) is reported by whoever needs it.
      const text = path && (await readFile(path, 'utf8').catch(() => undefined));
      if (!text) continue;
      const started = this.#started.get(variable);
      if (started === undefined) this.#note(variable, text);
      if (this.#isOutdated(variable, started ?? text, text)) changed.push(variable);
    }
    return changed;
  }

  /** Of certificates with their chain, the first is the process's own. */
  #note(variable: string, text: string): void {
    this.#started.set(variable, text);
    if (!SHOWN.has(variable) || !text.includes('-----BEGIN CERTIFICATE-----')) return;
    const { validToDate } = new X509Certificate(text);
    this.#deps.certificateEnds.set({ variable }, validToDate.getTime() / 1000);
  }

  #isOutdated(variable: string, given: string, present: string): boolean {
    const { outdated, logger } = this.#deps;
    const isOutdated = present !== given;
    outdated.set({ variable }, isOutdated ? 1 : 0);
    if (isOutdated && !this.#reported.has(variable)) {
      this.#reported.add(variable);
      logger.warn(
        { variable },
        `the Secret of ${variable} has changed; this process goes on with the old one`,
      );
    }
    return isOutdated;
  }

  stop(): Promise<void> {
    return this.#sweeper.stop();
  }
}

/** Watches the Secrets and certificates of a process, where it has any. */
export function startSecretWatch(
  { PLATEN_SECRETS_DIR: folder }: Pick<Config, 'PLATEN_SECRETS_DIR'>,
  metrics: SecretMetrics,
  logger: Logger,
  closers: Closers,
): void {
  const watch = new SecretWatch({
    folder,
    environment: process.env,
    outdated: metrics.secretOutdated,
    certificateEnds: metrics.certificateEnds,
    logger,
  });
  watch.start();
  closers.add(() => watch.stop());
}
