import assert from 'node:assert/strict';
import { findJsonError } from '../../../src/http/request/json-error.ts';

/** Texts that JSON.parse rejects, with the index of the first character that is not allowed. */
const FAULTY: readonly [text: string, at: number][] = [
  ['{"a":1,}', 7],
  ['{a:1}', 1],
  ["{'a':1}", 1],
  ['[1,]', 3],
  ['[1 2]', 3],
  ['{"a" 1}', 5],
  ['{"a":}', 5],
  ['{"a":tru}', 8],
  ['{"a":nul', 8],
  ['{"a":truthy}', 8],
  ['01', 1],
  ['-', 1],
  ['-x', 1],
  ['1.', 2],
  ['1.x', 2],
  ['1e+', 3],
  ['1ee', 2],
  ['"\\x"', 1],
  ['"\\u12g4"', 1],
  ['"a\nb"', 2],
  ['"abc', 4],
  ['{"a":1}}', 7],
  ['[1}', 2],
  ['{"a":1]', 6],
  ['NaN', 0],
  ['undefined', 0],
  ['{"a":1} x', 8],
  ['[,1]', 1],
  ['{,}', 1],
  ['{"html": <p>}', 9],
];

describe('findJsonError', () => {
  for (const [text, at] of FAULTY) {
    it(`finds the error of ${JSON.stringify(text)} at ${at}`, () => {
      assert.throws(() => JSON.parse(text), SyntaxError);
      const error = findJsonError(text);
      if (at === text.length) assert.equal(error, 'it ends too early');
      else assert.ok(error.startsWith(`unexpected character at position ${at} (`), error);
    });
  }

  it('counts lines and columns from one', () => {
    assert.equal(
      findJsonError('{\n  "a": 1,\n  b: 2\n}'),
      'unexpected character at position 14 (line 3, column 3)',
    );
  });

  it('reports an empty text', () => {
    assert.equal(findJsonError(' \n'), 'it is empty');
  });

  it('agrees with JSON.parse on whether there is an error, for a thousand damaged documents', () => {
    const whole = JSON.stringify({ html: '<p>"é\\\n</p>', n: [-1.5e-3, 0, true, null, {}], o: { '': [] } });
    for (let round = 0; round < 1000; round += 1) {
      const cut = (round * 7) % whole.length;
      const damaged = whole.slice(0, cut) + '{}[],:"\\x1e '[round % 12] + whole.slice(cut + (round % 3));
      let valid = true;
      try {
        JSON.parse(damaged);
      } catch {
        valid = false;
      }
      assert.equal(findJsonError(damaged) === 'the error could not be located', valid, damaged);
    }
  });

  it('supports nesting of a million levels', () => {
    assert.equal(findJsonError('['.repeat(1_000_000)), 'it ends too early');
  });

  it('does not quote the text', () => {
    assert.ok(!findJsonError('{"html":"secret" x').includes('secret'));
  });
});
