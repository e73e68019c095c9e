import assert from 'node:assert/strict';
import { UniqueNames } from '../../../src/work/batches/unique-names.ts';

function taken(...wanted: string[]): string[] {
  const names = new UniqueNames();
  return wanted.map((name) => names.take(name));
}

describe('unique names', () => {
  it('leave a name as it is that no other item has', () => {
    assert.deepEqual(taken('a.pdf', 'b.pdf'), ['a.pdf', 'b.pdf']);
  });

  it('number the copies of a name', () => {
    assert.deepEqual(taken('a.pdf', 'a.pdf', 'a.pdf'), ['a.pdf', 'a (2).pdf', 'a (3).pdf']);
  });

  it('take names for the same that some file system takes for the same', () => {
    assert.deepEqual(taken('Ä.pdf', 'ä.pdf', 'a\u0308.PDF'), ['Ä.pdf', 'ä (2).pdf', 'a\u0308 (3).PDF']);
  });

  it('do not make a name that another item has or requests', () => {
    assert.deepEqual(taken('a (2).pdf', 'a.pdf', 'a.pdf', 'a (3).pdf'), [
      'a (2).pdf',
      'a.pdf',
      'a (3).pdf',
      'a (3) (2).pdf',
    ]);
  });

  it('take no longer for the ten-thousandth copy than for the first', () => {
    const names = new UniqueNames();
    const all = new Set(Array.from({ length: 10_000 }, () => names.take('same.pdf')));
    assert.equal(all.size, 10_000);
    assert.ok(all.has('same (10000).pdf'));
  });
});
