import type { Logger } from '../../infra/telemetry/logger.ts';
import type { Plan, PlanName } from './plan.ts';
import type { MirroredPlanSet, PlanMirror } from './plan-mirror.ts';
import { BUILT_IN, type PlanSource } from './plan-source.ts';
import { PolledPlans } from './polled-plans.ts';

/** Milliseconds between queries for changes while nobody asks for the plan of an account. */
const CHECK_EVERY_MS = 15_000;
/** Milliseconds. A change is to be in force within two seconds, part of which the controller needs. */
const FRESH_MS = 1500;

/**
 * The mirrored plans; the built-in plans until any are mirrored.
 *
 * @param everyMs the interval between queries for changes, in milliseconds, for a process that does not ask by `resolve`.
 * @throws when the database does not respond.
 */
export async function openMirroredPlans(
  mirror: PlanMirror,
  logger: Logger,
  everyMs = CHECK_EVERY_MS,
): Promise<PlanSource> {
  return new MirroredPlans(mirror, await mirror.read(), logger, everyMs);
}

/**
 * Looks for a change in the mirror when a plan is asked for, and seldom otherwise: an idle process asks the database
 * nothing for its plans. While the database is unreachable the plans stay as they were.
 */
class MirroredPlans extends PolledPlans {
  readonly #mirror: PlanMirror;
  readonly #logger: Logger;
  #revisions: string;
  #failing = false;
  /** The beginning of the last look that has ended, by `performance.now()`. */
  #lookedAtMs = performance.now();
  /** The look at the mirror that is under way: a later one must not end before it. */
  #looking: Promise<void> | undefined;

  constructor(mirror: PlanMirror, first: MirroredPlanSet | undefined, logger: Logger, everyMs: number) {
    super(first?.set ?? BUILT_IN, everyMs, logger);
    this.#mirror = mirror;
    this.#logger = logger;
    this.#revisions = first?.revisions ?? '';
  }

  override async resolve(name: PlanName): Promise<Plan> {
    if (performance.now() - this.#lookedAtMs >= FRESH_MS) await this.check();
    return super.resolve(name);
  }

  /** The look that is under way may have begun before the change. */
  protected override async refresh(): Promise<void> {
    await this.#looking;
    await this.check();
  }

  protected override check(): Promise<void> {
    const beganMs = performance.now();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      this.#lookedAtMs = beganMs;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    try {
      // A deleted mirror has no revision; the last plans stay in force until there is another mirror.
      const revisions = await this.#mirror.revisions();
      const changed =
        revisions !== '' && revisions !== this.#revisions ? await this.#mirror.read() : undefined;
      this.#failing = false;
      if (changed === undefined) return;
      this.#revisions = changed.revisions;
      this.replace(changed.set);
      this.#logger.info({ revisions: changed.revisions, plans: this.names() }, 'the plans have changed');
    } catch (error) {
      if (!this.#failing)
        this.#logger.warn({ err: error }, 'plans could not be read; they stay as they were');
      this.#failing = true;
    }
  }
}
