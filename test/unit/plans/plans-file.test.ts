import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { DEFAULT_PLANS } from '../../../src/tenants/plans/plan.ts';
import type { PlanSource } from '../../../src/tenants/plans/plan-source.ts';
import { openPlanSource } from '../../../src/tenants/plans/watched-plans.ts';

/** A change must be in force in every process after this time, in milliseconds. */
const IN_FORCE_MS = 2000;
const POLL_MS = 20;

/**
 * Resolves when the condition holds; fails when it does not within the time. The time is counted in ticks of this process:
 * while the whole process is suspended, it cannot read the file either.
 */
async function soon(what: string, holds: () => boolean): Promise<void> {
  for (let polls = 0; !holds(); polls += 1) {
    assert.ok(polls < IN_FORCE_MS / POLL_MS, `not within ${IN_FORCE_MS} ms: ${what}`);
    await sleep(POLL_MS);
  }
}

describe('The plans file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-plans-'));
  });
  after(() => rm(folder, { recursive: true }));
  const silent = pino({ level: 'silent' });
  const load = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return openPlanSource(join(folder, name), { logger: silent });
  };

  it('is optional', async () => {
    const plans = await openPlanSource(undefined, { logger: silent });
    assert.deepEqual(plans.names(), ['free', 'starter', 'professional', 'business']);
    for (const name of plans.names()) {
      assert.deepEqual(plans.plan(name), DEFAULT_PLANS[name as keyof typeof DEFAULT_PLANS]);
    }
  });

  it('overrides single fields, in YAML and in JSON', async () => {
    const yaml = await load(
      'a.yaml',
      'plans:\n  free:\n    concurrentRenders: 7\n    features:\n      callbacks: true\n',
    );
    const free = yaml.plan('free');
    assert.equal(free.concurrentRenders, 7);
    assert.deepEqual(free.features, { callbacks: true, templateVersions: false, revealIp: false });
    assert.equal(free.monthlyRenders, DEFAULT_PLANS.free.monthlyRenders);
    assert.deepEqual(yaml.plan('business'), DEFAULT_PLANS.business);
    const json = await load('b.json', JSON.stringify({ plans: { business: { retentionHours: 1 } } }));
    assert.equal(json.plan('business').retentionHours, 1);
  });

  it('adds plans, which take their missing fields from the plan free with its overrides', async () => {
    const plans = await load(
      'c.yaml',
      'plans:\n  gold-2.eu: { maxActiveKeys: 9 }\n  free: { concurrentRenders: 7 }\n  constructor: {}\n',
    );
    assert.deepEqual(plans.plan('gold-2.eu'), {
      ...DEFAULT_PLANS.free,
      concurrentRenders: 7,
      maxActiveKeys: 9,
    });
    assert.deepEqual(
      [plans.has('gold-2.eu'), plans.has('constructor'), plans.has('toString')],
      [true, true, false],
    );
  });

  it('sets the concurrent renders of the workers of a pool', async () => {
    const plans = await load('d.yaml', 'plans: {}\npools:\n  large: { slotsPerWorker: 8 }\n');
    assert.deepEqual([plans.pool('large'), plans.pool('default')], [{ slotsPerWorker: 8 }, undefined]);
  });

  it('is rejected with all of its errors', async () => {
    await assert.rejects(
      load('e.yaml', 'plans:\n  free:\n    concurrentRenders: 0\n    colour: red\n'),
      /e\.yaml is not valid[\s\S]*plans\.free\.concurrentRenders[\s\S]*colour/,
    );
    await assert.rejects(load('f.yaml', 'plans:\n  Gold: {}\n'), /plans\.Gold: must be 1 to 63 lower-case/);
    await assert.rejects(
      load('g.yaml', 'plans:\n  free: { poolRef: a_b }\npools:\n  a: { slotsPerWorker: 0 }\n'),
      /plans\.free\.poolRef[\s\S]*pools\.a\.slotsPerWorker/,
    );
    await assert.rejects(load('h.yaml', 'plans: [1'), /h\.yaml cannot be read/);
    await assert.rejects(load('i.yaml', ''), /i\.yaml is not valid/);
    await assert.rejects(
      openPlanSource(join(folder, 'missing.yaml'), { logger: silent }),
      /missing\.yaml cannot be read/,
    );
  });

  describe('while it is watched', () => {
    const log: { level: number; msg: string; plan?: string; err?: { message: string } }[] = [];
    const valid: boolean[] = [];
    let path: string;
    let plans: PlanSource;

    beforeEach(async () => {
      path = join(await mkdtemp(join(folder, 'watched-')), 'plans.yaml');
      await writeFile(path, 'plans:\n  gold: { maxActiveKeys: 3 }\n');
      log.length = valid.length = 0;
      const logger = pino({ level: 'debug' }, { write: (line) => void log.push(JSON.parse(line)) });
      plans = await openPlanSource(path, { logger, onChecked: (is) => void valid.push(is) });
      plans.start();
    });
    afterEach(() => plans.stop());

    const keysOfGold = (keys: number) =>
      soon(`gold has ${keys} keys`, () => plans.plan('gold').maxActiveKeys === keys);
    const errors = () => log.filter(({ level }) => level >= 50).map(({ err }) => err?.message ?? '');

    it('is read again when it is written, replaced, or linked anew', async () => {
      await writeFile(path, 'plans:\n  gold: { maxActiveKeys: 4 }\n');
      await keysOfGold(4);
      await writeFile(`${path}.new`, 'plans:\n  gold: { maxActiveKeys: 5 }\n');
      await rename(`${path}.new`, path);
      await keysOfGold(5);
      await plans.stop();
      // Like a mounted ConfigMap: plans.yaml → ..data/plans.yaml, ..data → ..1, and ..data is replaced.
      const mount = await mkdtemp(join(folder, 'mount-'));
      for (const [version, keys] of [
        ['1', 6],
        ['2', 7],
      ] as const) {
        await mkdir(join(mount, `..${version}`));
        await writeFile(
          join(mount, `..${version}`, 'plans.yaml'),
          `plans:\n  gold: { maxActiveKeys: ${keys} }\n`,
        );
      }
      await symlink('..1', join(mount, '..data'));
      await symlink('..data/plans.yaml', join(mount, 'plans.yaml'));
      plans = await openPlanSource(join(mount, 'plans.yaml'), { logger: silent });
      plans.start();
      await keysOfGold(6);
      await symlink('..2', join(mount, '..data.new'));
      await rename(join(mount, '..data.new'), join(mount, '..data'));
      await keysOfGold(7);
    });

    it('keeps the last valid plans, and logs each error once', async () => {
      const good = await readFile(path, 'utf8');
      await writeFile(path, 'plans:\n  gold: { maxActiveKeys: -1, colour: red }\n');
      await soon('the faults are told', () => errors().length === 1);
      assert.match(errors()[0]!, /plans\.gold\.maxActiveKeys[\s\S]*colour/);
      await rm(path);
      await soon('the file is missed', () => errors().length === 2);
      await sleep(1500);
      assert.equal(errors().length, 2);
      assert.equal(plans.plan('gold').maxActiveKeys, 3);
      await writeFile(path, good.replace('3', '8'));
      await keysOfGold(8);
      assert.deepEqual(valid, [true, false, false, true]);
    });

    it('gives a removed plan the limits of free, and logs it once', async () => {
      await writeFile(path, 'plans:\n  free: { maxActiveKeys: 1 }\n');
      await soon('gold is gone', () => !plans.has('gold'));
      for (let i = 0; i < 3; i += 1) assert.equal(plans.plan('gold').maxActiveKeys, 1);
      assert.deepEqual(
        log.filter(({ level }) => level === 40).map(({ plan }) => plan),
        ['gold'],
      );
    });

    it('ignores a half-written file', async () => {
      for (let round = 1; round <= 4; round += 1) {
        await writeFile(path, 'plans:\n  half: {}\n');
        await sleep(200);
        assert.ok(!plans.has('half'));
        await writeFile(path, `plans:\n  half: {}\n  whole-${round}: {}\n`);
        await soon('the whole is taken over', () => plans.has(`whole-${round}`));
        await writeFile(path, 'plans: {}\n');
        await soon('nothing is left of it', () => !plans.has('half'));
      }
    });
  });
});
