import assert from 'node:assert/strict';
import { checkJsonSize, jsonLimitExceeded } from '../../../src/http/request/json-size.ts';

const MIB = 1024 * 1024;

describe('checkJsonSize', () => {
  const check = (text: string) => checkJsonSize(Buffer.from(text));

  it('accepts a text of any length, whatever its characters', () => {
    check(JSON.stringify({ html: '{[:,"\\'.repeat(2 * MIB) }));
  });

  for (const [what, text] of [
    ['lists', `[${'[],'.repeat(500_001)}[]]`],
    ['objects', `[${'{},'.repeat(500_001)}{}]`],
    ['names and values', `[${'{"a":1},'.repeat(250_001)}1]`],
    ['values', `[${'1,'.repeat(1_000_000)}1]`],
  ] as const) {
    it(`rejects a million ${what}`, () => {
      assert.throws(() => check(text), { code: 'INPUT_TOO_LARGE' });
    });
  }

  it('bounds the nesting depth when a depth is given, whatever the width', () => {
    const limitExceeded = (text: string) =>
      jsonLimitExceeded(Buffer.from(text), { elements: 100, names: 100, depth: 3 });
    assert.equal(limitExceeded('[[[1]],[[1]],"[[[["]'), undefined);
    assert.equal(limitExceeded('[{"a":[[1]]}]'), 'more than 3 levels');
    assert.equal(limitExceeded(`[${'1,'.repeat(100)}1]`), 'more than 100 names and values');
  });

  it('bounds the names of one object, not of all objects together', () => {
    const object = (names: number) => `{${'"a":1,'.repeat(names - 1)}"b":[{"c":1}]}`;
    check(`[${object(50_000)},${object(50_000)}]`);
    assert.throws(() => check(`[${object(50_001)}]`), { code: 'INPUT_TOO_LARGE' });
  });
});
