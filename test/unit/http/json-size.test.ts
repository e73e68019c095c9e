import assert from 'node:assert/strict';
import { checkJsonSize } from '../../../src/http/json-size.ts';

const MIB = 1024 * 1024;

describe('checkJsonSize', () => {
  const check = (text: string) => checkJsonSize(Buffer.from(text));

  it('lets text of any length through, whatever stands in it', () => {
    check(JSON.stringify({ html: '{[:,"\\'.repeat(2 * MIB) }));
  });

  for (const [what, text] of [
    ['lists', `[${'[],'.repeat(500_001)}[]]`],
    ['objects', `[${'{},'.repeat(500_001)}{}]`],
    ['names', `{${'"a":1,'.repeat(500_001)}"b":1}`],
    ['values', `[${'1,'.repeat(1_000_000)}1]`],
  ] as const) {
    it(`refuses a million ${what}`, () => {
      assert.throws(() => check(text), { code: 'INPUT_TOO_LARGE' });
    });
  }
});
