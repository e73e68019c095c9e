import type { Logger } from '../telemetry/logger.ts';
import { BUILT_IN, HeldPlans, type PlanSet, type PlanSource } from './plan-source.ts';
import { type PlansFileError, parsePlansFile, readPlansFile } from './plans-file.ts';
import { PolledPlans } from './polled-plans.ts';

/** Two looks and their reading fit well into the two seconds in which a change is to be in force. */
const LOOK_EVERY_MS = 400;

export interface PlanSourceParts {
  readonly logger: Logger;
  /** Told whether the file is valid, at the start and whenever it changes; without a file, that all is well. */
  readonly onChecked?: ((valid: boolean) => void) | undefined;
}

/**
 * The built-in plans, with those of a file if there is one.
 *
 * @throws PlansFileError naming the file and all its faults.
 */
export async function openPlanSource(
  path: string | undefined,
  { logger, onChecked }: PlanSourceParts,
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
 * The plans of a file, which is read again and again: file systems that are mounted from elsewhere report no changes,
 * and a mounted ConfigMap changes by a symbolic link two folders up. A file that becomes faulty leaves the plans as
 * they were; see docs/decisions/0045-plans-are-read-again.md.
 */
class WatchedPlans extends PolledPlans {
  readonly #path: string;
  readonly #parts: PlanSourceParts;
  /** What was read last, or why it could not be. */
  #seen: string;
  /** The last of these that was looked into: its plans are in force, or its faults have been told. */
  #checked: string;

  constructor(path: string, text: string, set: PlanSet, parts: PlanSourceParts) {
    super(set, LOOK_EVERY_MS, parts.logger);
    this.#path = path;
    this.#parts = parts;
    this.#seen = text;
    this.#checked = text;
  }

  protected override async look(): Promise<void> {
    const found: string | PlansFileError = await readPlansFile(this.#path).catch(
      (error: PlansFileError) => error,
    );
    const seen = typeof found === 'string' ? found : found.message;
    // Whoever is writing the file may be half-way: it counts once it is the same twice.
    const stable = seen === this.#seen;
    this.#seen = seen;
    if (!stable || seen === this.#checked) return;
    this.#checked = seen;
    const { logger, onChecked } = this.#parts;
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
