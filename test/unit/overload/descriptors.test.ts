import assert from 'node:assert/strict';
import { pino } from 'pino';
import { mostConnections } from '../../../src/infra/overload/connections.ts';
import {
  type Descriptors,
  DescriptorWatch,
  descriptorLimit,
} from '../../../src/infra/overload/descriptors.ts';

describe('The watch of file descriptors', () => {
  const lines: { level: string; msg: string; open: number; limit: number }[] = [];
  let found: Descriptors | undefined;
  const write = (line: string) => void lines.push(JSON.parse(line));
  const logger = pino({ formatters: { level: (level) => ({ level }) } }, { write });
  const levelsOf = (counts: readonly number[]) => {
    lines.length = 0;
    const watch = new DescriptorWatch(logger, () => found);
    for (const open of counts) {
      found = { open, limit: 100 };
      watch.check();
    }
    return lines.map(({ level }) => level);
  };

  it('logs each crossing once: near the limit, at it, and back', () => {
    assert.deepEqual(levelsOf([10, 79, 80, 95, 90]), ['warn']);
    assert.deepEqual(levelsOf([95, 100, 105, 100, 90, 10, 20]), ['warn', 'error', 'warn', 'info']);
    assert.deepEqual(levelsOf([100, 10]), ['error', 'info']);
  });

  it('does not log again where a number goes up and down at the limit', () => {
    assert.deepEqual(levelsOf([81, 79, 81, 75, 85]), ['warn']);
  });

  it('says how many are open, of how many', () => {
    levelsOf([85]);
    assert.deepEqual([lines[0]!.open, lines[0]!.limit], [85, 100]);
    levelsOf([100]);
    assert.match(lines[0]!.msg, /no file descriptor is left \(EMFILE\)/);
  });

  it('says nothing where the system does not tell', () => {
    lines.length = 0;
    found = undefined;
    new DescriptorWatch(logger, () => found).check();
    assert.deepEqual(lines, []);
  });

  it('knows the limit of this process, and leaves half of it to other things than connections', () => {
    assert.ok(descriptorLimit()! > 0);
    assert.equal(mostConnections(4096, 1_048_576), 4096);
    assert.equal(mostConnections(4096, 1024), 512);
    assert.equal(mostConnections(100, 1024), 100);
    assert.equal(mostConnections(4096, undefined), Math.min(4096, Math.floor(descriptorLimit()! / 2)));
  });
});
