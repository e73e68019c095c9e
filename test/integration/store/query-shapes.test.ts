import assert from 'node:assert/strict';
import {
  type CollectionSpec,
  declaredCollections,
  indexedFields,
} from '../../../src/infra/store/collection-spec.ts';
import { errorOf } from '../../../src/infra/store/query-guard.ts';
import { beyondIndex, nameOf } from '../../../src/infra/store/query-shape.ts';
import { startMongo } from '../../support/mongo.ts';
import { recordQueries, type SentQuery } from '../../support/query-shapes.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { useEverything } from './use-everything.ts';
import { emptyJobs, useJobs } from './use-jobs.ts';

/**
 * The collections and their exceptions are found where they are declared. The adapter refuses a query without an index
 * at the moment it is asked; this holds what was really sent against the declarations, whichever way it was sent.
 */
describe('Every query that is sent', () => {
  let api: TestApi;
  let sent: readonly SentQuery[];
  let specs: readonly CollectionSpec[];

  before(async () => {
    const { uri } = await startMongo();
    api = await openApi({
      uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`,
      syncWaitMs: 3000,
      // Nobody is there: what would be asked of the provider fails.
      billing: { STRIPE_SECRET_KEY: 'sk_test_nobody', STRIPE_API_BASE: 'http://127.0.0.1:9' },
    });
    const { connection } = api.domain;
    const recorded = recordQueries(connection);
    await useEverything(api);
    await useJobs(api);
    sent = [...recorded.values()];
    specs = declaredCollections(connection);
  });
  after(async () => {
    await emptyJobs(api);
    await api.close();
  });

  const sentTo = ({ name }: CollectionSpec) =>
    sent.filter(({ collection }) => collection === name).map(({ shape }) => shape);

  it('goes to a collection that is declared', () => {
    const declared = new Set(specs.map(({ name }) => name));
    const undeclared = sent.map(({ collection }) => collection).filter((name) => !declared.has(name));
    assert.deepEqual([...new Set(undeclared)], []);
    const opened = Object.keys(api.domain.connection.collections);
    assert.deepEqual(
      opened.filter((name) => !declared.has(name)),
      [],
    );
  });

  it('is led by an index that is declared with it, or by a declared exception', () => {
    const errors = specs.flatMap((spec) =>
      sentTo(spec).flatMap((shape) => {
        const error = errorOf(spec, shape);
        return error === undefined ? [] : [`${spec.name} ${nameOf(shape)}: ${error}`];
      }),
    );
    assert.deepEqual(errors, []);
  });

  it('leaves no collection unasked', () => {
    const unasked = specs.filter((spec) => sentTo(spec).length === 0).map(({ name }) => name);
    assert.deepEqual(unasked, []);
  });

  it('leaves no exception unneeded', () => {
    const unneeded = specs.flatMap((spec) => {
      const { name, filtersBy, scans = {} } = spec;
      const shapes = sentTo(spec);
      const names = new Set(shapes.map(nameOf));
      const needed = new Set(shapes.flatMap((shape) => beyondIndex(shape, indexedFields(spec)) ?? []));
      return [
        ...Object.keys(scans).filter((scan) => !names.has(scan)),
        ...(filtersBy?.fields ?? []).filter((field) => !needed.has(field)),
      ].map((exception) => `${name} ${exception}`);
    });
    assert.deepEqual(unneeded, []);
  });
});
