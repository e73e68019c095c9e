import assert from 'node:assert/strict';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { type Domain, newJob, openDomain, slotsInUse } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';

const CAP = 2;

/** Two processes on one database. */
describe('The slot of a job that ends', () => {
  let first: Domain;
  let second: Domain;
  let database: string;
  /** Operations that the first process has sent for jobs and ledgers. */
  const sent: string[] = [];
  beforeEach(async () => {
    const { uri } = await startMongo();
    database = uri;
    const plan = { concurrentRenders: CAP, maxWaitingJobs: 1000 };
    first = await openDomain({ uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`, plan });
    second = await openDomain({ uri, plan });
    first.connection.getClient().on('commandStarted', ({ commandName, command }) => {
      const collection = command[commandName];
      if (collection !== 'jobs' && collection !== 'ledgers') return;
      // What is done for many ended jobs together, a moment later, is none of the hand-over.
      const forgets = Object.keys(command.update?.$unset ?? {}).some((field) => field.startsWith('ending.'));
      if (commandName !== 'delete' && !forgets) sent.push(`${commandName} ${collection}`);
    });
  });
  afterEach(async () => {
    await first.close();
    await second.close();
  });

  const submit = async (domain: Domain, count: number, overrides: Partial<Job> = {}) => {
    const jobs = Array.from({ length: count }, () => newJob('a', overrides));
    await domain.admit(...jobs);
    return jobs.map(({ job }) => job._id);
  };
  const find = async (id: string) => (await second.store.live.find(id)) as Job;
  const stateOf = async (id: string) => (await find(id)).state;

  /** Up to where the worker has written that the job has ended. */
  const complete = async (domain: Domain, id: string): Promise<Job> => {
    const { transitions } = domain.store;
    const claimed = await transitions.claim(await find(id), 'worker', 15_000);
    const expiresAt = new Date(Date.now() + 1e6);
    const output = { key: outputKey(id, 1, expiresAt), size: 1, pages: 1, sha256: '' };
    return (await transitions.complete(claimed!.job, output, expiresAt)) as Job;
  };
  const end = async (domain: Domain, id: string) => domain.followUp.follow([await complete(domain, id)]);
  const cancel = async (domain: Domain, id: string) => endEarly(domain, [await find(id)]);

  it('is given to the next job in the update that frees it', async () => {
    const [running, , next] = await submit(first, 5);
    const ended = await complete(first, running!);
    sent.length = 0;
    assert.ok(await first.dispatch.free([ended]));
    assert.deepEqual(sent, ['findAndModify ledgers']);
    const record = await first.ledger.find('a');
    assert.deepEqual([record?.inFlight, record?.waiting], [CAP, 2]);
    assert.ok(record?.holders?.[next!] && record.ending?.[running!]);
  });

  for (const waiting of [40, 400]) {
    it(`costs two updates, and one read for several, while ${waiting} wait`, async () => {
      const ids = await submit(first, CAP + waiting);
      const finished = await Promise.all(ids.slice(0, CAP).map((id) => complete(first, id)));
      let checks = 0;
      for (let i = CAP; i < 32; i += 1) {
        sent.length = 0;
        await first.followUp.follow([finished.shift() as Job]);
        const updates = sent.filter((name) => name.startsWith('findAndModify') || name.startsWith('update'));
        assert.deepEqual(updates, ['findAndModify ledgers', 'update jobs']);
        checks += sent.length - updates.length;
        assert.equal(await stateOf(ids[i]!), 'dispatched');
        finished.push(await complete(second, ids[i]!));
      }
      assert.ok(checks <= 4, `${checks} looks for 30 jobs`);
    });
  }

  it('goes to another job for each that ends at the same moment, in their order', async () => {
    const ids = await submit(first, 12);
    for (let from = 0; from < 12; from += CAP) {
      const ended = await Promise.all(ids.slice(from, from + CAP).map((id) => complete(first, id)));
      await Promise.all(ended.map((job) => first.followUp.follow([job])));
      const states = await Promise.all(ids.slice(from + CAP).map(stateOf));
      assert.deepEqual(
        states,
        states.map((_, i) => (i < CAP ? 'dispatched' : 'queued')),
      );
    }
    assert.equal(await slotsInUse(first, 'a'), 0);
  });

  it('goes to an interactive job that another process has admitted since the last read', async () => {
    const [a, b, bulk] = await submit(first, 6);
    await end(first, a!);
    assert.equal(await stateOf(bulk!), 'dispatched');
    const [interactive] = await submit(second, 1, { class: 'interactive' });
    await end(first, b!);
    assert.equal(await stateOf(interactive!), 'dispatched');
  });

  it('goes on in order when another process has given out slots since the last read', async () => {
    const ids = await submit(first, 8);
    for (let i = 0; i + CAP < 8; i += 1) {
      await end(i % 2 ? first : second, ids[i]!);
      assert.equal(await stateOf(ids[i + CAP]!), 'dispatched');
      assert.equal(await slotsInUse(first, 'a'), CAP);
    }
  });

  it('passes over a job that was cancelled since it was read', async () => {
    const [a, b, c, next, after] = await submit(first, 8);
    await end(first, a!);
    assert.equal(await stateOf(c!), 'dispatched');
    await cancel(second, next!);
    await end(first, b!);
    assert.equal(await stateOf(after!), 'dispatched');
    assert.equal(await slotsInUse(first, 'a'), CAP);
    assert.equal((await first.ledger.find('a'))?.waiting, 3);
    await first.flush();
    await second.flush();
    assert.equal((await first.store.find('a', next!))?.state, 'cancelled');
  });

  it('goes to no job when the plan allows fewer than run', async () => {
    const ids = await submit(first, 6);
    const lowered = await openDomain({ uri: database, plan: { concurrentRenders: CAP - 1 } });
    await lowered.ledger.find('a');
    await end(lowered, ids[0]!);
    await lowered.close();
    assert.equal(await slotsInUse(first, 'a'), CAP - 1);
    assert.equal(await stateOf(ids[2]!), 'queued');
  });

  describe('together with others of its account', () => {
    /** As a job whose pointer had waited for a worker for long. */
    const afterAWait = (job: Job): Job => ({
      ...job,
      dispatchedAt: new Date((job.startedAt as Date).getTime() - 60_000),
    });
    const completeAll = (domain: Domain, ids: readonly string[]) =>
      Promise.all(ids.map(async (id) => afterAWait(await complete(domain, id))));
    const endAll = (domain: Domain, jobs: readonly Job[]) =>
      Promise.all(jobs.map((job) => domain.followUp.followSoon(job)));

    it('is given to the next jobs in one update, and these are dispatched in one', async () => {
      const ids = await submit(first, 12);
      for (let from = 0; from < 10; from += CAP) {
        const ended = await completeAll(second, ids.slice(from, from + CAP));
        sent.length = 0;
        await endAll(first, ended);
        const updates = sent.filter((name) => name.startsWith('findAndModify') || name.startsWith('update'));
        assert.deepEqual(updates, ['findAndModify ledgers', 'update jobs']);
        for (const id of ids.slice(from + CAP, from + 2 * CAP)) assert.equal(await stateOf(id), 'dispatched');
      }
      const record = await first.ledger.find('a');
      assert.deepEqual([record?.inFlight, record?.waiting], [CAP, 0]);
      await endAll(first, await completeAll(second, ids.slice(10)));
      await first.flush();
      assert.equal(await slotsInUse(first, 'a'), 0);
      assert.deepEqual((await first.ledger.find('a'))?.ending, {});
      assert.equal(first.ended.length, 12);
    });

    it('goes to the jobs behind one that was cancelled since it was read', async () => {
      const [a, b, c, next, after] = await submit(first, 8);
      await end(first, a!);
      assert.equal(await stateOf(c!), 'dispatched');
      await cancel(second, next!);
      await endAll(first, await completeAll(second, [b!, c!]));
      assert.equal(await stateOf(after!), 'dispatched');
      assert.equal(await slotsInUse(first, 'a'), CAP);
      assert.equal((await first.ledger.find('a'))?.waiting, 2);
      await first.flush();
      await second.flush();
      assert.equal((await first.store.find('a', next!))?.state, 'cancelled');
    });

    it('is given back once when another process has followed up one of them', async () => {
      const ids = await submit(first, 8);
      const ended = await completeAll(first, ids.slice(0, CAP));
      await second.followUp.follow([ended[0]!]);
      await endAll(first, ended);
      await first.flush();
      await second.flush();
      assert.equal(await slotsInUse(first, 'a'), CAP);
      assert.equal((await first.ledger.find('a'))?.waiting, 8 - 2 * CAP);
      assert.equal(first.ended.length + second.ended.length, CAP);
    });

    it('is given out once however many processes give out others, to the last', async () => {
      const ids = await submit(first, 60);
      const left = new Set(ids);
      while (left.size > 0) {
        const record = await second.ledger.find('a');
        const held = Object.keys(record?.holders ?? {});
        assert.ok(held.length > 0 && held.length <= CAP, `${held.length} hold slots`);
        const running = [];
        for (const id of held) if ((await stateOf(id)) === 'dispatched') running.push(id);
        const ended = await completeAll(second, running);
        const cuts = ended.slice(0, 1);
        await Promise.all([endAll(first, ended), endAll(second, cuts)]);
        for (const { _id } of ended) left.delete(_id);
      }
      await first.flush();
      await second.flush();
      const record = await first.ledger.find('a');
      assert.deepEqual([record?.inFlight, record?.waiting], [0, 0]);
      assert.equal(first.ended.length + second.ended.length, 60, 'each is told of once');
    });
  });
});
