import assert from 'node:assert/strict';
import { findJsonFault } from '../../../src/http/json-fault.ts';

/** Every text here is refused by JSON.parse; the number is the index of the first character that cannot be there. */
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

describe('findJsonFault', () => {
  for (const [text, at] of FAULTY) {
    it(`finds the fault of ${JSON.stringify(text)} at ${at}`, () => {
      assert.throws(() => JSON.parse(text), SyntaxError);
      const fault = findJsonFault(text);
      if (at === text.length) assert.equal(fault, 'it ends too early');
      else assert.ok(fault.startsWith(`unexpected character at position ${at} (`), fault);
    });
  }

  it('counts lines and columns from one', () => {
    assert.equal(
      findJsonFault('{\n  "a": 1,\n  b: 2\n}'),
      'unexpected character at position 14 (line 3, column 3)',
    );
  });

  it('tells an empty text', () => {
    assert.equal(findJsonFault(' \n'), 'it is empty');
  });

  it('agrees with JSON.parse on whether there is a fault, for a thousand damaged documents', () => {
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
      assert.equal(findJsonFault(damaged) === 'the fault could not be located', valid, damaged);
    }
  });

  it('takes nesting of a million levels', () => {
    assert.equal(findJsonFault('['.repeat(1_000_000)), 'it ends too early');
  });

  it('says nothing of the text itself', () => {
    assert.ok(!findJsonFault('{"html":"secret" x').includes('secret'));
  });
});
