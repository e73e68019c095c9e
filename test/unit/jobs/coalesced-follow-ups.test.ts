import assert from 'node:assert/strict';
import { CoalescedFollowUps, mayWaitMs } from '../../../src/work/jobs/coalesced-follow-ups.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { newJob } from '../../support/domain.ts';

/** A bulk job that has ended, whose pointer had waited so long for a worker. */
function ended(waitedMs: number, overrides: Partial<Job> = {}): Job {
  const dispatchedAt = new Date();
  const startedAt = new Date(dispatchedAt.getTime() + waitedMs);
  const { job } = newJob('account', { endedFrom: 'processing', dispatchedAt, startedAt, ...overrides });
  return job;
}

describe('ends that are followed up together', () => {
  let followed: (readonly Job[])[];
  let together: CoalescedFollowUps;
  beforeEach(() => {
    followed = [];
    together = new CoalescedFollowUps(async (jobs) => {
      followed.push(jobs);
    });
  });
  const sizes = () => followed.map((jobs) => jobs.length);

  it('wait for a part of the time that their pointers waited, and never long', () => {
    assert.equal(mayWaitMs(ended(0)), 0);
    assert.equal(mayWaitMs(ended(20)), 0, 'a worker was nearly free: its next pointer must not be late');
    assert.equal(mayWaitMs(ended(200)), 50);
    assert.equal(mayWaitMs(ended(60_000)), 80);
    assert.equal(mayWaitMs(ended(-60_000)), 0, 'clocks that differ delay nothing');
    assert.equal(mayWaitMs(ended(60_000, { class: 'interactive' })), 0);
    assert.equal(mayWaitMs(ended(60_000, { endedFrom: 'queued' })), 0);
    assert.equal(mayWaitMs(ended(60_000, { startedAt: null })), 0);
  });

  it('are gathered by account, and resolve when that is done', async () => {
    const mine = [together.add(ended(400)), together.add(ended(400))];
    const other = together.add(ended(400, { accountId: 'other' }));
    assert.deepEqual(sizes(), []);
    await Promise.all([...mine, other]);
    assert.deepEqual(sizes().sort(), [1, 2]);
    await together.add(ended(400));
    assert.equal(followed.length, 3, 'the next ones are gathered anew');
  });

  it('go at once with one that may not wait, when they are many, and at a flush', async () => {
    const waiting = together.add(ended(400));
    await together.add(ended(0));
    await waiting;
    assert.deepEqual(sizes(), [2]);
    const many = Array.from({ length: 17 }, () => together.add(ended(60_000)));
    await Promise.all(many.slice(0, 16));
    await together.flush();
    await Promise.all(many);
    assert.deepEqual(sizes(), [2, 16, 1]);
  });

  it('fail for all of them when following them up fails', async () => {
    together = new CoalescedFollowUps(async () => {
      throw new Error('the database is away');
    });
    const all = [together.add(ended(400)), together.add(ended(400))];
    const failed = Promise.allSettled(all);
    await together.flush();
    assert.deepEqual(
      (await failed).map(({ status }) => status),
      ['rejected', 'rejected'],
    );
  });
});
