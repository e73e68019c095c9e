import assert from 'node:assert/strict';
import { ProgressBar } from '../../../src/cli/progress-bar.ts';

function stream(isTTY: boolean, columns = 80) {
  let text = '';
  return {
    isTTY,
    columns,
    write(more: string) {
      text += more;
    },
    get text() {
      return text;
    },
  };
}

describe('a progress bar', () => {
  it('is one line of a terminal, drawn again and again, and never wider than that', () => {
    const terminal = stream(true, 60);
    const bar = new ProgressBar(terminal);
    bar.show(0, 3);
    bar.show(1, 3);
    bar.show(3, 3, '1 failed');
    bar.end();
    const lines = terminal.text.split('\r').slice(1);
    assert.deepEqual(lines, [
      `[${'.'.repeat(30)}]   0 %  0 of 3\x1b[K`,
      `[${'#'.repeat(10)}${'.'.repeat(20)}]  33 %  1 of 3\x1b[K`,
      `[${'#'.repeat(30)}] 100 %  3 of 3, 1 failed\x1b[K\n`,
    ]);
    const narrow = stream(true, 20);
    new ProgressBar(narrow).show(1, 3);
    assert.equal(narrow.text.length, '\r'.length + 19 + '\x1b[K'.length);
  });

  it('is a line for each further tenth elsewhere', () => {
    const pipe = stream(false);
    const bar = new ProgressBar(pipe);
    for (let done = 0; done <= 1000; done += 1) bar.show(done, 1000);
    bar.end();
    assert.deepEqual(
      pipe.text.trim().split('\n'),
      Array.from({ length: 11 }, (_, step) => `${step * 100} of 1000`),
    );
  });
});
