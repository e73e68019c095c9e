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
  ['{"a":truthy}', 8],
  ['01', 1],
  ['-', 1],
  ['-x', 1],
  ['1.', 2],
  ['1.x', 2],
  ['1e+', 3],
  ['1ee', 2],
  ['"\\x"', 2],
  ['"\\u12g4"', 5],
  ['"a\nb"', 2],
  ['"abc', 4],
  ['{"a":1}}', 7],
  ['[1}', 2],
  ['{"a":1]', 6],
  ['NaN', 0],
  ['undefined', 0],
  ['[object Object]', 1],
  ['{"a":1} x', 8],
  ['[,1]', 1],
  ['{,}', 1],
  ['{"html": <p>}', 9],
  ['{"html": "at position 1 (line 1 column 2)", "k": x}', 49],
];

describe('findJsonError', () => {
  for (const [text, at] of FAULTY) {
    it(`finds the error of ${JSON.stringify(text)} at ${at}`, () => {
      assert.throws(() => JSON.parse(text), SyntaxError);
      const error = findJsonError(text);
      assert.ok(error.endsWith(` at position ${at} (line 1 column ${at + 1})`), error);
    });
  }

  it('counts lines and columns from one', () => {
    const where = /at position 14 \(line 3 column 3\)$/;
    assert.match(findJsonError('{\n  "a": 1,\n  b: 2\n}'), where);
    assert.match(findJsonError('[\n "a b", 1,\n  b, 2\n]'), /at position 15 \(line 3 column 3\)$/);
  });

  it('reports a text that ends too early', () => {
    for (const text of ['', ' \n', '{"a":', '{"a":nul'])
      assert.equal(findJsonError(text), 'Unexpected end of JSON input');
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
    assert.equal(findJsonError('['.repeat(1_000_000)), 'Unexpected end of JSON input');
  });

  it('searches the first 262,144 characters for an unexpected token', () => {
    const before = '1,'.repeat(100_000);
    assert.match(findJsonError(`[${before}x]`), /at position 200001 \(line 1 column 200002\)$/);
    assert.equal(
      findJsonError(`[${before.repeat(2)}x]`),
      'Unexpected token after the first 262144 characters',
    );
  });

  it('does not quote the text', () => {
    for (const text of ['{"html":"secret" x', '{"html":"secret", "k": secret}', '["secret"'])
      assert.ok(!findJsonError(text).includes('secret'), text);
  });
});
