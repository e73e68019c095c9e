import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_PLANS } from '../../../src/plans/plan.ts';
import { loadPlans } from '../../../src/plans/plans-file.ts';

describe('the plans file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-plans-'));
  });
  after(() => rm(folder, { recursive: true }));
  const load = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return loadPlans(join(folder, name));
  };

  it('is not needed', async () => {
    assert.deepEqual(await loadPlans(undefined), DEFAULT_PLANS);
  });

  it('overrides single fields, in YAML and in JSON', async () => {
    const yaml = await load(
      'a.yaml',
      'plans:\n  free:\n    concurrentRenders: 7\n    features:\n      callbacks: true\n',
    );
    assert.equal(yaml.free.concurrentRenders, 7);
    assert.deepEqual(yaml.free.features, { callbacks: true, templateVersions: false, revealIp: false });
    assert.equal(yaml.free.monthlyRenders, DEFAULT_PLANS.free.monthlyRenders);
    assert.deepEqual(yaml.business, DEFAULT_PLANS.business);
    const json = await load('b.json', JSON.stringify({ plans: { business: { retentionHours: 1 } } }));
    assert.equal(json.business.retentionHours, 1);
  });

  it('is refused with every fault named', async () => {
    await assert.rejects(
      load('c.yaml', 'plans:\n  free:\n    concurrentRenders: 0\n    colour: red\n'),
      /plans\.free\.concurrentRenders[\s\S]*colour/,
    );
    await assert.rejects(load('d.yaml', 'plans:\n  gold: {}\n'), /gold/);
    await assert.rejects(load('e.yaml', 'plans: [1'), /e\.yaml cannot be read/);
    await assert.rejects(loadPlans(join(folder, 'missing.yaml')), /missing\.yaml cannot be read/);
  });
});
