import assert from 'node:assert/strict';
import { jsonProblem, problemsIn, problemsOf } from '../../../dashboard/src/problems.ts';
import { sheetOf } from '../../../dashboard/src/sheet.ts';

const rounded = (options: object) => {
  const { width, height, margin, scale } = sheetOf({ ...options });
  return [Math.round(width), Math.round(height), margin.map(Math.round), scale];
};

describe('The sheet of the live preview', () => {
  it('has the size and margins that options ask for, as far as they are typed', () => {
    assert.deepEqual(rounded({}), [794, 1123, [0, 0, 0, 0], 1]);
    assert.deepEqual(rounded({ format: 'Letter', landscape: true }), [1056, 816, [0, 0, 0, 0], 1]);
    const own = { width: '100mm', height: '6in', scale: 0.5 };
    assert.deepEqual(rounded({ ...own, margin: { top: '1in', left: '40' } }), [
      378,
      576,
      [96, 0, 0, 40],
      0.5,
    ]);
    const unfinished = { format: 'A', width: '10', height: 'm', margin: { top: '2c' }, scale: 7 };
    assert.deepEqual(rounded(unfinished), [10, 1123, [0, 0, 0, 0], 1]);
  });
});

describe('The places of problems', () => {
  it('are those that templates, JSON and scripts name', () => {
    assert.deepEqual(
      problemsIn('Line 3, column 7: totl is not there.').map(({ line, column }) => [line, column]),
      [[3, 7]],
    );
    assert.deepEqual(
      problemsIn('tag not closed, line:2, col:4').map(({ line, column }) => [line, column]),
      [[2, 4]],
    );
    assert.deepEqual(problemsIn('It failed.'), []);
    const [problem] = problemsIn(jsonProblem('{\n"a": ,\n')!);
    assert.deepEqual([problem?.line, problem?.column], [2, 6]);
    assert.equal(jsonProblem(' '), undefined);
    assert.equal(jsonProblem('{}'), undefined);
    const exceptions = [
      { message: 'a', at: 'http://document.localhost/:5' },
      { message: 'b', at: 'https://a.example/x.js:7' },
    ];
    assert.deepEqual(problemsOf(exceptions), [{ line: 5, message: 'a', severity: 'warning' }]);
  });
});
