import assert from 'node:assert/strict';
import type { writeSync } from 'node:fs';
import { createLogOutput } from '../../../src/infra/telemetry/log-output.ts';

describe('createLogOutput', () => {
  it('drops lines that cannot be written, and reports how many once it can write again', () => {
    const { output, disk } = outputTo({ errorCode: 'ENOSPC' });
    for (let i = 0; i < 3; i += 1) output.write(`lost ${i}\n`);
    disk.errorCode = undefined;
    output.write('kept\n');
    output.write('kept too\n');
    const [empty, notice, ...kept] = disk.text.split('\n');
    assert.equal(empty, '');
    const { lost, reason, level } = JSON.parse(notice!);
    assert.deepEqual({ lost, reason, level }, { lost: 3, reason: 'ENOSPC', level: 'warn' });
    assert.deepEqual(kept, ['kept', 'kept too', '']);
  });

  it('begins a new line after one that broke off', () => {
    const { output, disk } = outputTo({ most: 4 });
    output.write('whole\n');
    assert.equal(disk.text, 'whole\n');
    disk.room = 3;
    output.write('breaks off\n');
    disk.room = Number.POSITIVE_INFINITY;
    output.write('next\n');
    assert.match(disk.text, /^whole\nbre\n\{"level":"warn".*\}\nnext\n$/);
  });

  it('waits for a slow reader, and not again after one wait in vain', () => {
    const { output, disk } = outputTo({ busyFor: 5 });
    output.write('late\n');
    assert.equal(disk.text, 'late\n');
    disk.busyFor = Number.POSITIVE_INFINITY;
    disk.tries = 0;
    output.write('never\n');
    assert.ok(disk.tries < 200, `${disk.tries} tries, one every 20 ms`);
    disk.tries = 0;
    for (let i = 0; i < 99; i += 1) output.write('never\n');
    assert.equal(disk.tries, 99, 'each is tried once');
    disk.busyFor = 0;
    output.write('again\n');
    assert.match(disk.text, /"lost":100,"reason":"EAGAIN".*\nagain\n$/);
  });
});

interface Disk {
  text: string;
  /** What every write fails with. */
  errorCode?: string | undefined;
  /** Bytes that one write takes at most. */
  most: number;
  /** Bytes that it takes in all before it is full. */
  room: number;
  /** Writes that fail with EAGAIN. */
  busyFor: number;
  /** Writes so far. */
  tries: number;
}

function outputTo(state: Partial<Disk>) {
  const disk: Disk = {
    text: '',
    most: 1000,
    room: Number.POSITIVE_INFINITY,
    busyFor: 0,
    tries: 0,
    ...state,
  };
  const write = (_: number, bytes: Uint8Array): number => {
    disk.tries += 1;
    if (disk.busyFor > 0) {
      disk.busyFor -= 1;
      throw Object.assign(new Error(), { code: 'EAGAIN' });
    }
    const taken = Math.min(disk.most, disk.room, bytes.length);
    if (disk.errorCode !== undefined || taken === 0) {
      throw Object.assign(new Error(), { code: disk.errorCode ?? 'ENOSPC' });
    }
    disk.room -= taken;
    disk.text += Buffer.from(bytes.subarray(0, taken)).toString();
    return taken;
  };
  return { disk, output: createLogOutput(1, write as typeof writeSync) };
}
