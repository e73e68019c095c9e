import type { Connection } from 'mongoose';
import type { CollectionSpec, Index } from '../../../src/store/collection-spec.ts';

/** Exceptions of the collections that are still models; a converted one declares them in its own spec. */
const EXCEPTIONS: Readonly<Record<string, Pick<CollectionSpec, 'looksAt' | 'scans'>>> = {
  slots: {
    scans: {
      '{}': 'one record for each account with work at the moment; all are looked at',
      '{contended:other, inFlight}': 'the same records',
    },
  },
  jobs: {
    looksAt: {
      asked: ['_id', 'state', 'notBefore', 'leaseExpiresAt', 'createdAt', 'expiresAt', 'sort createdAt'],
      because: 'holds only what waits or runs; the index leads to the account, the state or the ids',
    },
  },
  job_history: {
    looksAt: {
      asked: ['expiresAt'],
      because: 'nearly all of an account’s history is visible: what has expired is deleted within a minute',
    },
  },
  job_inputs: {
    looksAt: { asked: ['createdAt'], because: 'walked through by id once an hour, all of it' },
  },
};

/** Collections that may still be models of mongoose. A further one fails the test. */
const MODELS = ['jobs', 'job_history', 'job_inputs', 'slots', 'quotas'];

export function unconverted(connection: Connection): readonly CollectionSpec[] {
  return Object.values(connection.models)
    .filter((model) => MODELS.includes(model.collection.name))
    .map((model) => {
      const { name } = model.collection;
      const indexes = model.schema.indexes().map(([fields]) => ({ fields: fields as Index['fields'] }));
      return { name, indexes, ...EXCEPTIONS[name] };
    });
}
