import type { Logger } from '../../infra/telemetry/logger.ts';
import type { MirroredSet, PlanMirror } from './plan-mirror.ts';
import { BUILT_IN, type PlanSource } from './plan-source.ts';
import { PolledPlans } from './polled-plans.ts';

/** Milliseconds. A change is to be in force within two seconds, part of which the controller needs. */
const CHECK_EVERY_MS = 500;

/**
 * The mirrored plans; the built-in plans until any are mirrored.
 *
 * @param everyMs the interval between queries for changes, in milliseconds.
 * @throws when the database does not respond.
 */
export async function openMirroredPlans(
  mirror: PlanMirror,
  logger: Logger,
  everyMs = CHECK_EVERY_MS,
): Promise<PlanSource> {
  return new MirroredPlans(mirror, await mirror.read(), logger, everyMs);
}

/** Polls the mirror for a new revision. While the database is unreachable the plans stay as they were. */
class MirroredPlans extends PolledPlans {
  readonly #mirror: PlanMirror;
  readonly #logger: Logger;
  #revision: number;
  #failing = false;

  constructor(mirror: PlanMirror, first: MirroredSet | undefined, logger: Logger, everyMs: number) {
    super(first?.set ?? BUILT_IN, everyMs, logger);
    this.#mirror = mirror;
    this.#logger = logger;
    this.#revision = first?.revision ?? 0;
  }

  protected override async check(): Promise<void> {
    try {
      // A deleted mirror has no revision; the last plans stay in force until there is another mirror.
      const revision = await this.#mirror.revision();
      const changed = revision !== 0 && revision !== this.#revision ? await this.#mirror.read() : undefined;
      this.#failing = false;
      if (changed === undefined) return;
      this.#revision = changed.revision;
      this.replace(changed.set);
      this.#logger.info({ revision: changed.revision, plans: this.names() }, 'the plans have changed');
    } catch (error) {
      if (!this.#failing)
        this.#logger.warn({ err: error }, 'plans could not be read; they stay as they were');
      this.#failing = true;
    }
  }
}
