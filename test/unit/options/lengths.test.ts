import assert from 'node:assert/strict';
import { lengthInInches } from '../../../src/render/options/core/lengths.ts';

describe('lengths', () => {
  it('are read in every absolute unit', () => {
    const inches = ['96px', '96', '1in', '2.54cm', '25.4mm', '72pt', '6pc', '101.6Q'].map(lengthInInches);
    for (const value of inches) assert.ok(Math.abs(value! - 1) < 1e-9, `${inches}`);
  });
});
