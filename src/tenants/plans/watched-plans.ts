import type { Logger } from '../../infra/telemetry/logger.ts';
import { BUILT_IN, HeldPlans, type PlanSet, type PlanSource } from './plan-source.ts';
import { type PlansFileError, parsePlansFile, readPlansFile } from './plans-file.ts';
import { PolledPlans } from './polled-plans.ts';

/** Milliseconds. Two polls fit well into the two seconds within which a change is to be in force. */
const CHECK_EVERY_MS = 800;

interface PlanSourceDeps {
  readonly logger: Logger;
  /** Called with whether the file is valid, at the start and after each change; without a file, with true. */
  readonly onChecked?: ((valid: boolean) => void) | undefined;
}

/** Built-in plans, with a file's overrides if any. @throws PlansFileError naming the file and all its errors. */
export async function openPlanSource(
  path: string | undefined,
  { logger, onChecked }: PlanSourceDeps,
): Promise<PlanSource> {
  if (path === undefined) {
    onChecked?.(true);
    return new HeldPlans(BUILT_IN, logger);
  }
  const text = await readPlansFile(path);
  const set = parsePlansFile(path, text);
  onChecked?.(true);
  return new WatchedPlans(path, text, set, { logger, onChecked });
}

/**
 * The plans of a file, which is polled: network file systems report no changes, and a mounted ConfigMap changes by a
 * symbolic link two folders up. When the file becomes invalid, the plans stay as they were; see
 * docs/decisions/0045-plans-are-read-again.md.
 */
class WatchedPlans extends PolledPlans {
  readonly #path: string;
  readonly #deps: PlanSourceDeps;
  /** The text that was read last, or the message of the error. */
  #seen: string;
  /** The last text that was parsed: its plans are in force, or its errors have been logged. */
  #checked: string;

  constructor(path: string, text: string, set: PlanSet, deps: PlanSourceDeps) {
    super(set, CHECK_EVERY_MS, deps.logger);
    this.#path = path;
    this.#deps = deps;
    this.#seen = text;
    this.#checked = text;
  }

  protected override async check(): Promise<void> {
    const found: string | PlansFileError = await readPlansFile(this.#path).catch(
      (error: PlansFileError) => error,
    );
    const seen = typeof found === 'string' ? found : found.message;
    // The file may be half written: a text counts once two polls have read it.
    const stable = seen === this.#seen;
    this.#seen = seen;
    if (!stable || seen === this.#checked) return;
    this.#checked = seen;
    const { logger, onChecked } = this.#deps;
    try {
      if (typeof found !== 'string') throw found;
      this.replace(parsePlansFile(this.#path, found));
      onChecked?.(true);
      logger.info({ plans: this.names() }, 'the plans file has been read again');
    } catch (error) {
      onChecked?.(false);
      logger.error({ err: error }, 'the plans stay as they were');
    }
  }
}
