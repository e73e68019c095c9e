import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { JobInput } from '../../../src/work/jobs/job.ts';
import { shareChunks } from '../../../src/work/jobs/store/shared-chunks.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';

const MARKUP = `<p>{{ number }}</p>${' '.repeat(200)}`;
const LARGE = 'x'.repeat(20_000);

describe('The inputs of jobs', () => {
  let domain: Domain;
  let lookUps = 0;
  beforeEach(async () => {
    const { uri } = await startMongo();
    domain = await openDomain({ uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true` });
    domain.connection.getClient().on('commandStarted', ({ commandName, command }) => {
      if (commandName === 'find' && command.find === 'job_inputs') lookUps += 1;
    });
  });
  afterEach(() => domain.close());

  /** Inputs of one template with these data, as items of a batch have them. @returns their ids. */
  async function save(
    accountId: string,
    data: readonly Record<string, unknown>[],
    createdAt = new Date(0),
  ): Promise<string[]> {
    const inputs = data.map(
      (values, i): JobInput => ({
        _id: `${accountId}-${i}`,
        accountId,
        source: { mode: 'template', templateId: 't', templateVersionId: 'v', content: MARKUP, data: values },
        options: {},
        timeoutMs: 1000,
        maxOutputBytes: 1000,
        maxStoredBytes: 1000,
        createdAt,
      }),
    );
    const shared = shareChunks(accountId, inputs);
    await domain.store.inputs.save(shared.inputs, shared.chunks);
    lookUps = 0;
    return inputs.map(({ _id }) => _id);
  }

  const numbers = (count: number) => Array.from({ length: count }, (_, number) => ({ number }));

  /** As a worker has them, one after the other: it names those that wait behind. @returns their data. */
  async function loadAll(accountId: string, ids: readonly string[]): Promise<unknown[]> {
    const found: unknown[] = [];
    for (const [i, id] of ids.entries()) {
      const input = await domain.store.inputs.load(id, { accountId, ids: () => ids.slice(i + 1, i + 4) });
      assert.equal(input?._id, id);
      assert.ok(input.source.mode === 'template' && input.source.content === MARKUP);
      found.push(input.source.data);
    }
    return found;
  }

  it('are in the record of their job when they are small, and have one of their own when they are not', async () => {
    const { store } = domain;
    for (const [chars, own] of [
      [100, 0],
      [100_000, 1],
    ] as const) {
      const { job, input } = newJob(`a${chars}`);
      const html = 'x'.repeat(chars);
      await domain.admit({ job, input: { ...input, source: { mode: 'html', html } } });
      assert.equal(await domain.connection.collection('job_inputs').countDocuments(), own);
      assert.deepEqual((await store.inputs.load(job._id))?.source, { mode: 'html', html });
      assert.ok(await store.inputs.has((await store.live.find(job._id))!));

      const claimed = await store.transitions.claim((await store.live.find(job._id))!, 'w', 1e6);
      assert.equal(claimed?.input?.source.mode, own ? undefined : 'html');
      // It is read where it is needed alone.
      for (const read of [claimed?.job, await store.live.find(job._id)]) assert.ok(!('input' in read!));
      const [failed] = await store.transitions.fail([claimed!.job], new PlatenError('RENDER_FAILED'));
      await domain.followUp.followWhole([failed!]);
      assert.equal(await store.live.find(job._id), undefined);
      assert.deepEqual(
        (await store.inputs.load(job._id))?.source,
        { mode: 'html', html },
        'that of a failed job stays',
      );
      assert.ok(!('input' in (await store.history.find(job._id))!));
      await store.history.delete([job._id]);
      assert.equal(await store.inputs.load(job._id), undefined);
    }
  });

  it('are those of the latest attempt that saved them, and deleted for no earlier one', async () => {
    const { inputs } = domain.store;
    const present = async (ids: readonly string[]) => Promise.all(ids.map((id) => inputs.has({ _id: id })));
    const ids = await save('a', numbers(2), new Date(1000));
    await save('a', numbers(2), new Date(9000));
    // The sweep that undoes the first attempt, which it has read before the second began.
    await inputs.deleteAbandoned(ids, 2000);
    assert.deepEqual(await present(ids), [true, true]);
    await inputs.deleteAbandoned(ids, 9500);
    assert.deepEqual(await present(ids), [false, false]);
    await save('a', numbers(2), new Date(20_000));
    await inputs.deleteAbandoned(ids, 19_000);
    assert.deepEqual(await present(ids), [true, true]);
  });

  it('are there after an attempt has saved them while the earlier one is undone, in a thousand races', async () => {
    const { inputs } = domain.store;
    for (let race = 0; race < 1000; race += 1) {
      const first = 100_000 * race;
      const ids = await save('racing', numbers(1), new Date(first));
      await Promise.all([
        save('racing', numbers(1), new Date(first + 10_000)),
        inputs.deleteAbandoned(ids, first + 10),
      ]);
      assert.ok(await inputs.has({ _id: ids[0]! }), `race ${race}`);
    }
  });

  it('come together where they are small and share their template: each its own', async () => {
    const ids = await save('a', numbers(9));
    assert.deepEqual(await loadAll('a', ids), numbers(9));
    // The first by itself, since nothing was known of the account; then four at a time.
    assert.equal(lookUps, 3);
    // None is kept that has been taken.
    assert.deepEqual(await loadAll('a', ids.slice(0, 1)), numbers(1));
    assert.equal(lookUps, 4);
  });

  it('come one by one where the last was large, or of another account', async () => {
    const data = [{ number: 0 }, { number: 1, text: LARGE }, { number: 2, text: LARGE }];
    const ids = await save('b', data);
    assert.deepEqual(await loadAll('b', [ids[1]!, ids[2]!]), data.slice(1));
    assert.equal(lookUps, 2);
    const others = await save('c', numbers(2));
    assert.deepEqual(await loadAll('c', others.slice(0, 1)), numbers(1));
    assert.equal(lookUps, 1);
  });

  it('are read again where they should have been prefetched and were not', async () => {
    const ids = await save('d', numbers(2));
    await loadAll('d', ids.slice(0, 1));
    const missing = { accountId: 'd', ids: () => ['d-none', ids[1]!] };
    assert.equal((await domain.store.inputs.load(ids[0]!, missing))?._id, ids[0]);
    assert.equal(await domain.store.inputs.load('d-none', missing), undefined);
    assert.equal((await domain.store.inputs.load(ids[1]!))?._id, ids[1]);
  });
});
