import assert from 'node:assert/strict';
import { WarmMemory } from '../../../src/render/chromium/browsers/warm-memory.ts';

const MIB = 1024 * 1024;

describe('memory of warm contexts', () => {
  const machine = { total: 1000 * MIB, left: 500 * MIB, available: () => machine.left };
  beforeEach(() => {
    machine.left = 500 * MIB;
  });

  it('has room for as many as weigh no more than their share', () => {
    const memory = new WarmMemory(0.3, machine);
    memory.weighed([
      { bytes: 100 * MIB, count: 4 },
      { bytes: 20 * MIB, count: 2 },
    ]);
    assert.equal(memory.contextsThatFit(), 15);
  });

  it('goes by a guess before anything was weighed, and by the last weight while nothing is there', () => {
    const memory = new WarmMemory(0.3, machine);
    assert.equal(memory.contextsThatFit(), 7);
    memory.weighed([{ bytes: 60 * MIB, count: 2 }]);
    memory.weighed([]);
    assert.equal(memory.contextsThatFit(), 10);
  });

  it('gives back as many as are missing to what is kept free for renders, and none otherwise', () => {
    const memory = new WarmMemory(0.3, machine);
    memory.weighed([{ bytes: 60 * MIB, count: 2 }]);
    assert.deepEqual([memory.short, memory.toGiveBack()], [false, 0]);
    machine.left = 35 * MIB;
    memory.weighed([{ bytes: 60 * MIB, count: 2 }]);
    assert.deepEqual([memory.short, memory.toGiveBack()], [true, 3]);
    machine.left = 100 * MIB;
    memory.weighed([{ bytes: 60 * MIB, count: 2 }]);
    assert.equal(memory.short, false);
  });
});
