import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../infra/clock.ts';
import { PlatenError } from '../../../infra/errors/registry.ts';
import type { AuditLog, DoneBy } from '../../../tenants/audit/audit-log.ts';
import type { Job, SharedLink } from '../job.ts';
import type { JobHistory } from '../store/history.ts';
import type { DownloadLinks } from './download-links.ts';

const HOUR_MS = 3_600_000;
/** The links that one PDF may have at a time. */
export const MOST_LINKS = 50;
/** That a link was opened is noted once in this time, in milliseconds: it costs a write. */
const NOTED_EVERY_MS = 60_000;
/** A job that has just ended is in the history within moments. */
const HISTORY_TRIES = 20;
const HISTORY_PAUSE_MS = 100;

interface SharedLinksDeps {
  readonly history: JobHistory;
  readonly links: DownloadLinks;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly clock: Clock;
}

/** A link of a PDF, with what is in its address. */
export interface ListedLink extends SharedLink {
  readonly id: string;
  readonly token: string;
}

/**
 * Links by which anybody can download the PDF of a job. They are kept in the job's own record, which each download reads
 * anyway: a link that is not there any more has been revoked. It ends with the record at the latest.
 */
export class SharedLinks {
  readonly #deps: SharedLinksDeps;

  constructor(deps: SharedLinksDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a link, and records that first: a link that nobody knows of could not be found out about.
   *
   * @param hours for how long it is valid; undefined: as long as the PDF is kept, which is also its bound.
   * @throws PlatenError NOT_FOUND until the job is completed; PLAN_LIMIT when it has MOST_LINKS links.
   */
  async create(job: Job, hours: number | undefined, by: DoneBy): Promise<ListedLink> {
    const { history, audit, clock } = this.#deps;
    const { _id: jobId, accountId, fileName } = job;
    if (job.output === null || job.keepsNothing || job.expiresAt === null)
      throw new PlatenError('NOT_FOUND', 'The job has no file to share.', { jobId });
    const createdAt = clock.now();
    const kept = await this.#moved(job);
    const ended = linksOf(kept).filter(({ expiresAt }) => expiresAt <= createdAt);
    if (linksOf(kept).length - ended.length >= MOST_LINKS)
      throw new PlatenError('PLAN_LIMIT', `A PDF has at most ${MOST_LINKS} links: revoke one first.`, {
        jobId,
      });
    const ends = job.expiresAt.getTime();
    const asked = hours === undefined ? ends : Math.min(ends, createdAt.getTime() + hours * HOUR_MS);
    const id = randomUUID();
    const personId = by.personId ?? null;
    const link: SharedLink = { createdAt, expiresAt: new Date(asked), personId, lastOpenedAt: null };
    await audit.record({
      ...by,
      accountId,
      action: 'render.shared',
      targetId: jobId,
      details: { name: fileName, until: link.expiresAt.toISOString() },
    });
    await history.changeLinks(jobId, { add: { id, link }, remove: ended.map((each) => each.id) });
    return this.#listed(job, id, link);
  }

  /** The links of a job that have not ended, the newest first. @param since earlier ones were of another owner. */
  async list(job: Job, since: Date | null): Promise<ListedLink[]> {
    const now = this.#deps.clock.now();
    return linksOf(await this.#known(job))
      .filter(({ expiresAt, createdAt }) => expiresAt > now && (since === null || createdAt >= since))
      .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
      .map(({ id, ...link }) => this.#listed(job, id, link));
  }

  /** Ends a link. @throws PlatenError NOT_FOUND when the job has none of this id. */
  async revoke(job: Job, id: string, by: DoneBy): Promise<void> {
    const { history, audit } = this.#deps;
    const { _id: jobId, accountId, fileName } = job;
    const link = (await this.#known(job)).sharedLinks?.[id];
    if (link === undefined) throw new PlatenError('NOT_FOUND', `There is no link ${id}.`, { jobId });
    await history.changeLinks(jobId, { remove: [id] });
    await audit.record({
      ...by,
      accountId,
      action: 'render.share_revoked',
      targetId: jobId,
      details: { name: fileName, until: link.expiresAt.toISOString() },
    });
  }

  /**
   * Lets a download by a link happen, and notes it.
   *
   * @param id undefined for links that are signed alone: those of `download-url`, and shared ones of earlier versions.
   * @throws PlatenError NOT_FOUND for a link that was revoked.
   */
  async open(job: Job, id: string | undefined): Promise<void> {
    if (id === undefined) return;
    const { history, clock } = this.#deps;
    const link = (await this.#known(job)).sharedLinks?.[id];
    if (link === undefined) throw new PlatenError('NOT_FOUND', 'The link was revoked.', { jobId: job._id });
    const now = clock.now();
    if (link.lastOpenedAt !== null && now.getTime() - link.lastOpenedAt.getTime() < NOTED_EVERY_MS) return;
    // A download does not fail because nobody could note it.
    await history.noteOpened(job._id, id, now).catch(() => undefined);
  }

  #listed({ _id, accountId }: Job, id: string, link: SharedLink): ListedLink {
    const token = this.#deps.links.share(_id, accountId, link.expiresAt, link.createdAt, id);
    return { id, token, ...link };
  }

  /** The job with its links: a copy that is on its way to the history has none. */
  async #known(job: Job): Promise<Job> {
    return job.sharedLinks === undefined ? ((await this.#deps.history.find(job._id)) ?? job) : job;
  }

  /** The job once it is in the history: what is written before would be lost. */
  async #moved(job: Job): Promise<Job> {
    for (let tries = 0; tries < HISTORY_TRIES; tries += 1) {
      const moved = await this.#deps.history.find(job._id);
      if (moved !== undefined) return moved;
      await sleep(HISTORY_PAUSE_MS);
    }
    const message = 'The render has just ended; try again in a moment.';
    throw new PlatenError('UNAVAILABLE', message, { jobId: job._id, retryAfterSeconds: 1 });
  }
}

function linksOf({ sharedLinks = {} }: Job): (SharedLink & { readonly id: string })[] {
  return Object.entries(sharedLinks).map(([id, link]) => ({ id, ...link }));
}
