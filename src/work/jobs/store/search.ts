import type { ErrorCode } from '../../../infra/errors/registry.ts';
import { failureKey, type Job } from '../job.ts';
import type { JobCollections } from './collections.ts';

/** Jobs of all accounts that the operator looks for; a condition that is absent leaves nothing out. */
export interface JobConditions {
  readonly accountId?: string | undefined;
  readonly templateId?: string | undefined;
  /** At or after this time, and before `to`: of failed jobs when they failed, of others when they were accepted. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

interface FailureConditions extends JobConditions {
  readonly errorCode?: ErrorCode | undefined;
  readonly from: Date;
  readonly to: Date;
}

/** Lists jobs over all accounts, page by page, for the operator of the service. */
export class JobSearch {
  readonly #collections: JobCollections;

  constructor(collections: JobCollections) {
    this.#collections = collections;
  }

  /** Failed jobs, in the order of their failures. @param after the `failureKey` of the previous page's last job. */
  failed(
    { accountId, templateId, errorCode, from, to }: FailureConditions,
    { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<Job[]> {
    const begin = after === undefined ? { $gte: failureKey(from) } : { $gt: after };
    return this.#collections.history.find(
      {
        failureKey: { ...begin, $lt: failureKey(to) },
        ...(accountId !== undefined && { accountId }),
        ...(templateId !== undefined && { templateId }),
        ...(errorCode !== undefined && { 'error.code': errorCode }),
      },
      { sort: { failureKey: 1 }, limit },
    );
  }

  /** Live jobs by their ids, nearly in the order of acceptance. @param after the id of the last one before. */
  live(
    { accountId, templateId, from, to, states }: JobConditions & { readonly states: readonly Job['state'][] },
    { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<Job[]> {
    const createdAt = { ...(from && { $gte: from }), ...(to && { $lt: to }) };
    return this.#collections.live.find(
      {
        _id: { $gt: after },
        state: { $in: [...states] },
        ...(accountId !== undefined && { accountId }),
        ...(templateId !== undefined && { templateId }),
        ...((from ?? to) !== undefined && { createdAt }),
      },
      { sort: { _id: 1 }, limit },
    );
  }
}
