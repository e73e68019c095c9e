import { PlatenError } from '../infra/errors/registry.ts';
import type { DoneBy } from '../tenants/audit/audit-log.ts';
import type { Mail } from '../tenants/mail/mail.ts';
import type { Delivery } from '../work/callbacks/delivery.ts';
import type { AdminCore } from './admin-core.ts';
import { type Page, type RequestedPage, readPage } from './cursor.ts';

export const MESSAGE_STATES = ['waiting', 'failed'] as const;
type MessageState = (typeof MESSAGE_STATES)[number];

/** What was given up is listed for this time, in milliseconds. */
const LISTED_MS = 7 * 24 * 3_600_000;

/** Callbacks and mails that wait or were given up, for the operators of an installation. */
export class MessageAdmin {
  readonly #core: AdminCore;

  constructor(core: AdminCore) {
    this.#core = core;
  }

  /** Waiting ones, the longest due first; or those of a week that were given up, the newest first. */
  async deliveries(
    state: MessageState,
    requested: RequestedPage,
  ): Promise<Page<ReturnType<typeof shownDelivery>>> {
    const { deliveries } = this.#core;
    const { rows, cursor } =
      state === 'waiting'
        ? await readPage(
            requested,
            (page) => deliveries.upcoming(page),
            ({ dueAt }) => dueAt!,
          )
        : await readPage(
            requested,
            (page) => deliveries.failed(page, this.#since()),
            ({ createdAt }) => createdAt,
          );
    return { rows: rows.map(shownDelivery), cursor };
  }

  /** As `deliveries`. */
  async mails(state: MessageState, requested: RequestedPage): Promise<Page<ReturnType<typeof shownMail>>> {
    const { outbox } = this.#core;
    const { rows, cursor } =
      state === 'waiting'
        ? await readPage(
            requested,
            (page) => outbox.upcoming(page),
            ({ dueAt }) => dueAt!,
          )
        : await readPage(
            requested,
            (page) => outbox.failed(page, this.#since()),
            ({ createdAt }) => createdAt,
          );
    return { rows: rows.map(shownMail), cursor };
  }

  /** Sends a callback anew, now. @throws PlatenError NOT_FOUND; NOT_RETRYABLE for one that was delivered. */
  async retryDelivery(id: string, by: DoneBy) {
    const { deliveries, audit } = this.#core;
    const known = await deliveries.find(id);
    if (known === undefined) throw new PlatenError('NOT_FOUND', `There is no callback ${id}.`);
    if (known.state === 'delivered') throw new PlatenError('NOT_RETRYABLE', 'The callback was delivered.');
    const { accountId } = known;
    const again = (await deliveries.redeliver(accountId, id)) ?? known;
    await audit.record({ accountId, action: 'callback.retried', ...by, targetId: id });
    return shownDelivery(again);
  }

  /** Sends a mail now. @throws PlatenError NOT_FOUND; NOT_RETRYABLE for one that was sent. */
  async retryMail(id: string, by: DoneBy) {
    const { outbox, audit } = this.#core;
    const again = await outbox.retry(id);
    if (again === undefined) {
      if ((await outbox.find(id)) === undefined)
        throw new PlatenError('NOT_FOUND', `There is no mail ${id}.`);
      throw new PlatenError('NOT_RETRYABLE', 'The mail was sent.');
    }
    const { accountId, content } = again;
    await audit.record({ accountId, action: 'mail.retried', ...by, details: { kind: content.kind } });
    return shownMail(again);
  }

  #since(): Date {
    return new Date(this.#core.clock.now().getTime() - LISTED_MS);
  }
}

/** A callback as operators see it: its receiver's host, and no more of the address. */
function shownDelivery(delivery: Delivery) {
  return {
    id: delivery._id,
    accountId: delivery.accountId,
    jobId: delivery.payload.jobId,
    event: delivery.payload.event,
    host: delivery.host,
    state: delivery.state,
    attempts: delivery.attempts,
    createdAt: delivery.createdAt.toISOString(),
    lastAttemptAt: delivery.lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: delivery.dueAt?.toISOString() ?? null,
    responseStatus: delivery.responseStatus,
  };
}

/** A mail as operators see it: to whom and of which kind, without its text. */
function shownMail(mail: Mail) {
  return {
    id: mail._id,
    accountId: mail.accountId,
    to: mail.to,
    kind: mail.content.kind,
    state: mail.state,
    attempts: mail.attempts,
    createdAt: mail.createdAt.toISOString(),
    nextAttemptAt: mail.dueAt?.toISOString() ?? null,
    /** What the mail server said last. */
    error: mail.error ?? null,
  };
}
