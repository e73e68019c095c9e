import assert from 'node:assert/strict';
import { coresOfMachine, defaultSlots } from '../../../src/infra/machine/machine-cores.ts';

describe('the default of the slots of a worker', () => {
  const GIB = 1024 ** 3;
  const cores = coresOfMachine();

  it('is eight for each core, or what there is memory for', () => {
    assert.equal(defaultSlots(1024 * GIB), Math.min(256, cores * 8));
    assert.equal(defaultSlots(GIB), Math.max(cores, 2));
    assert.equal(defaultSlots(0.1 * GIB), cores);
  });
});
