import assert from 'node:assert/strict';
import type { JobClass, Slot } from '../../../src/bus/bus.ts';
import { WorkerSlots } from '../../../src/worker/slots.ts';

const never = new AbortController().signal;

describe('slots of a worker', () => {
  it('gives out no more slots than there are', async () => {
    const slots = new WorkerSlots(2);
    const first = await slots.reserve('interactive', never);
    await slots.reserve('bulk', never);
    let third = false;
    const waiting = slots.reserve('interactive', never).then(() => {
      third = true;
    });
    await new Promise(setImmediate);
    assert.equal(third, false);
    first.release();
    await waiting;
    assert.equal(slots.busy, 2);
  });

  it('frees a slot once, however often it is released', async () => {
    const slots = new WorkerSlots(1);
    const slot = await slots.reserve('bulk', never);
    slot.release();
    slot.release();
    assert.equal(slots.busy, 0);
    await slots.reserve('bulk', never);
    assert.equal(slots.busy, 1);
  });

  it('gives slots to interactive jobs first, and every fourth time a bulk job that waits', async () => {
    const slots = new WorkerSlots(1);
    const taken = await slots.reserve('bulk', never);
    const order: JobClass[] = [];
    const reserve = (jobClass: JobClass) =>
      slots.reserve(jobClass, never).then((slot: Slot) => {
        order.push(jobClass);
        setImmediate(() => slot.release());
      });
    const all = [
      reserve('bulk'),
      reserve('bulk'),
      ...Array.from({ length: 7 }, () => reserve('interactive')),
    ];
    taken.release();
    await Promise.all(all);
    const [i, b] = ['interactive', 'bulk'] as const;
    assert.deepEqual(order, [i, i, i, b, i, i, i, b, i]);
  });

  it('gives bulk jobs no turn at the slots that are kept for interactive ones', async () => {
    const slots = new WorkerSlots(2);
    (await slots.reserve('interactive', never)).release();
    for (let n = 0; n < 4; n += 1) void slots.reserve('bulk', never);
    for (let n = 0; n < 20; n += 1) {
      const interactive = await slots.reserve('interactive', never);
      interactive.release();
    }
    assert.equal(slots.busy, 1, 'the slow bulk job, and a slot for the next interactive one');
  });

  it('lets a reservation that is given up go, and gives the slot to the next one', async () => {
    const slots = new WorkerSlots(1);
    const taken = await slots.reserve('interactive', never);
    const controller = new AbortController();
    const given = slots.reserve('interactive', controller.signal);
    const next = slots.reserve('interactive', never);
    controller.abort(new Error('stopping'));
    await assert.rejects(given, /stopping/);
    taken.release();
    await next;
    assert.equal(slots.busy, 1);
  });

  describe('among accounts', () => {
    let now: number;
    let slots: WorkerSlots;
    let order: string[];
    const open = (total: number) => {
      slots = new WorkerSlots(total, { now: () => now });
    };
    const reserve = async (account: string, jobClass: JobClass = 'bulk') => {
      const slot = await slots.reserve(jobClass, never, account);
      order.push(account);
      return slot;
    };
    /** Has an account hold a slot for so long. */
    const hold = async (account: string, ms: number) => {
      const slot = await reserve(account);
      now += ms;
      slot.release();
    };
    const settled = () => new Promise(setImmediate);
    /** Has the worker look at its slots so many milliseconds later. */
    const lookAfter = async (ms: number) => {
      now += ms;
      slots.look();
      await settled();
    };
    beforeEach(() => {
      now = 1_000_000;
      order = [];
    });

    it('gives the next slot to the one that has held slots for the least time, however many of another wait', async () => {
      open(2);
      const first = [await reserve('many'), await reserve('many')];
      for (let n = 0; n < 50; n += 1) void reserve('many');
      now += 1000;
      void reserve('one');
      void reserve('other');
      first[0]!.release();
      first[1]!.release();
      await settled();
      assert.deepEqual(order, ['many', 'many', 'one', 'other']);
    });

    it('lets one account have all slots as long as no other is about', async () => {
      open(4);
      await hold('slow', 10_000);
      for (let n = 0; n < 4; n += 1) await reserve('slow');
      assert.equal(slots.busy, 4);
    });

    it('keeps a quarter for quick accounts, while one is about, from all that have slow renders', async () => {
      open(4);
      await hold('slow', 10_000);
      await hold('slower', 20_000);
      await hold('quick', 50);
      const taken = [await reserve('slow'), await reserve('slower'), await reserve('slow')];
      void reserve('slow');
      void reserve('slower');
      await settled();
      assert.equal(slots.busy, 3);
      (await reserve('quick')).release();
      taken[0]!.release();
      await settled();
      assert.equal(slots.busy, 3, 'the next slow one has taken its place, and no more');
    });

    it('keeps them no longer than a minute after the last quick render was asked for', async () => {
      open(2);
      await hold('quick', 50);
      await hold('slow', 10_000);
      await reserve('slow');
      void reserve('slow');
      await settled();
      assert.equal(slots.busy, 1);
      now += 60_000;
      void reserve('slow');
      await settled();
      assert.equal(slots.busy, 2);
    });

    it('let one render more in when those that have every slot have turned out to be slow', async () => {
      open(2);
      const flood = [await reserve('flood'), await reserve('flood')];
      void reserve('flood');
      void reserve('other');
      void reserve('third');
      await lookAfter(3000);
      assert.equal(slots.busy, 2, 'they may be quick yet');
      await lookAfter(1);
      assert.deepEqual([slots.busy, order.at(-1)], [3, 'other']);
      await lookAfter(3001);
      assert.equal(slots.busy, 3, 'no further one, when that is slow as well');
      flood[0]!.release();
      await settled();
      assert.deepEqual([slots.busy, order.at(-1)], [3, 'third'], 'no slow one comes in its place');
    });

    it('let it in of an account that has shown that it is quick, before strangers', async () => {
      open(2);
      await hold('quick', 50);
      await reserve('slow');
      await reserve('slower');
      void reserve('stranger');
      void reserve('quick');
      await lookAfter(3001);
      assert.deepEqual([slots.busy, order.at(-1)], [3, 'quick']);
    });

    it('let it in beside renders that wait for others as well, and do not hold the wait against their accounts', async () => {
      open(2);
      const waiting = await slots.reserve('interactive', never, 'waiting');
      await reserve('slow', 'interactive');
      waiting.pause();
      void reserve('other', 'interactive');
      await lookAfter(3001);
      assert.equal(slots.busy, 3);
      waiting.resume();
      waiting.release();
      await settled();
      void reserve('waiting', 'interactive');
      await settled();
      assert.deepEqual([slots.busy, order.at(-1)], [2, 'other'], 'the worker has slots for two');
    });

    it('let no render more in at a worker with one slot', async () => {
      open(1);
      await reserve('flood');
      void reserve('other');
      await lookAfter(3001);
      assert.equal(slots.busy, 1);
    });

    it('give a crowd of newcomers one turn each before one who has been about, not as many as that one had', async () => {
      open(1);
      for (let n = 0; n < 100; n += 1) await hold('resident', 50);
      const taken = await reserve('resident');
      for (let n = 0; n < 20; n += 1) {
        const newcomer = `newcomer ${n}`;
        for (let i = 0; i < 10; i += 1)
          void reserve(newcomer).then((slot) => {
            now += 170;
            setImmediate(() => slot.release());
          });
      }
      order = [];
      const resident = reserve('resident');
      taken.release();
      await resident;
      assert.equal(order.indexOf('resident'), 20);
      assert.equal(new Set(order.slice(0, 20)).size, 20);
    });

    it('leave the last of eight to an account that holds none, and it none of fewer', async () => {
      open(8);
      const flood: Slot[] = [];
      for (let n = 0; n < 9; n += 1) void reserve('flood').then((slot) => flood.push(slot));
      await settled();
      assert.equal(slots.busy, 7);
      const first = await reserve('newcomer');
      assert.equal(slots.busy, 8);
      first.release();
      await settled();
      assert.equal(slots.busy, 7, 'the flood has taken it');
      flood[0]?.release();
      await settled();
      assert.equal(slots.busy, 7);
      open(7);
      for (let n = 0; n < 7; n += 1) await reserve('flood');
      assert.equal(slots.busy, 7);
    });

    it('are there at once for an account that holds none, though another has all that compute', async () => {
      slots = new WorkerSlots(16, { now: () => now, computing: 2 });
      for (let n = 0; n < 9; n += 1) void reserve('flood');
      await settled();
      assert.equal(slots.busy, 2);
      const newcomer = await reserve('newcomer');
      void reserve('newcomer');
      await settled();
      assert.equal(slots.busy, 3, 'no more than one is let in so');
      newcomer.release();
      await settled();
      assert.deepEqual(order, ['flood', 'flood', 'newcomer', 'newcomer']);
    });

    it('let in accounts beside those that compute until as many accounts as these have one, without the slow', async () => {
      slots = new WorkerSlots(16, { now: () => now, computing: 2 });
      await hold('slow', 10_000);
      await hold('quick', 50);
      await reserve('flood');
      void reserve('flood');
      await reserve('second');
      void reserve('third');
      void reserve('slow');
      await settled();
      assert.deepEqual(order, ['slow', 'quick', 'flood', 'flood', 'second']);
      now += 3001;
      void reserve('fourth');
      await settled();
      assert.deepEqual(order.slice(5), ['third', 'fourth'], 'flood and second are slow by now');
    });

    it('let in an account that is slow itself, when another has all that compute', async () => {
      slots = new WorkerSlots(16, { now: () => now, computing: 2 });
      await hold('slow', 10_000);
      for (let n = 0; n < 3; n += 1) void reserve('flood');
      void reserve('slow');
      void reserve('slow');
      await settled();
      assert.deepEqual(order, ['slow', 'flood', 'flood', 'slow']);
    });

    it('counts an account as slow while its render still goes on', async () => {
      open(2);
      await hold('quick', 50);
      await reserve('slow');
      now += 5000;
      void reserve('slow');
      await settled();
      assert.equal(slots.busy, 1);
      await reserve('quick');
      assert.equal(slots.busy, 2);
    });

    it('keeps all but a quarter of those that compute free of bulk jobs while interactive ones keep coming, and not for long after the last', async () => {
      open(4);
      (await reserve('many', 'interactive')).release();
      for (let n = 0; n < 6; n += 1) void reserve('many');
      await settled();
      assert.equal(slots.busy, 1);
      const interactive = await reserve('many', 'interactive');
      interactive.release();
      assert.equal(slots.busy, 1);
      now += 5001;
      void reserve('many');
      await settled();
      assert.equal(slots.busy, 4);
    });

    it('keeps a part of those that compute as well, and counts renders at rest for none of them', async () => {
      slots = new WorkerSlots(16, { now: () => now, computing: 4 });
      await hold('quick', 50);
      await hold('slow', 10_000);
      for (let n = 0; n < 16; n += 1) void reserve('slow');
      await settled();
      assert.equal(slots.busy, 3);
      await reserve('quick');
      assert.equal(slots.busy, 4);
      slots.rest(2);
      await settled();
      assert.equal(slots.busy, 6);
    });
  });

  it('gives out more than may compute only beside renders at rest, and never more than there are', async () => {
    const slots = new WorkerSlots(3, { computing: 1 });
    const given: Slot[] = [];
    const reserve = () => void slots.reserve('interactive', never).then((slot) => given.push(slot));
    for (let i = 0; i < 4; i++) reserve();
    await new Promise(setImmediate);
    assert.equal(given.length, 1);
    slots.rest(1);
    await new Promise(setImmediate);
    assert.equal(given.length, 2);
    slots.rest(3);
    await new Promise(setImmediate);
    assert.equal(given.length, 3);
    slots.rest(0);
    given[0]!.release();
    await new Promise(setImmediate);
    assert.equal(given.length, 3, 'two compute where one may');
    given[1]!.release();
    given[2]!.release();
    await new Promise(setImmediate);
    assert.equal(given.length, 4);
  });
});
