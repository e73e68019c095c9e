import type { Logger } from '../telemetry/logger.ts';
import type { MirroredSet, PlanMirror } from './plan-mirror.ts';
import { BUILT_IN, type PlanSource } from './plan-source.ts';
import { PolledPlans } from './polled-plans.ts';

/** A change is to be in force within two seconds, of which the controller needs some. */
const LOOK_EVERY_MS = 500;

/** The plans that are mirrored; the built-in ones until some are. @throws when the database does not answer. */
export async function openMirroredPlans(mirror: PlanMirror, logger: Logger): Promise<PlanSource> {
  return new MirroredPlans(mirror, await mirror.read(), logger);
}

/** Looks for another revision again and again. While the database is away the plans stay as they were. */
class MirroredPlans extends PolledPlans {
  readonly #mirror: PlanMirror;
  readonly #logger: Logger;
  #revision: number;
  #failing = false;

  constructor(mirror: PlanMirror, first: MirroredSet | undefined, logger: Logger) {
    super(first?.set ?? BUILT_IN, LOOK_EVERY_MS, logger);
    this.#mirror = mirror;
    this.#logger = logger;
    this.#revision = first?.revision ?? 0;
  }

  protected override async look(): Promise<void> {
    try {
      // A mirror that was deleted has no revision; what it showed last holds until there is another.
      const revision = await this.#mirror.revision();
      const changed = revision !== 0 && revision !== this.#revision ? await this.#mirror.read() : undefined;
      this.#failing = false;
      if (changed === undefined) return;
      this.#revision = changed.revision;
      this.replace(changed.set);
      this.#logger.info({ revision: changed.revision, plans: this.names() }, 'the plans have changed');
    } catch (error) {
      if (!this.#failing)
        this.#logger.warn({ err: error }, 'plans not looked up; they stay as they were until they can be');
      this.#failing = true;
    }
  }
}
