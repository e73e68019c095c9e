import assert from 'node:assert/strict';
import { DiskSpace } from '../../../src/infra/outputs/disk-space.ts';

const failing = (code: string) => Object.assign(new Error(code), { code });

describe('DiskSpace', () => {
  it('names the disk and what it has left when that is too little', () => {
    const check = () => ({ bytes: 5.5 * 1024 * 1024 });
    assert.equal(
      new DiskSpace('/data/outputs', { check }).problem(),
      'disk full: /data/outputs has 5 MiB free, and the last 32 MiB are for work already accepted',
    );
    assert.equal(new DiskSpace('/data', { check, keptFreeBytes: 5 * 1024 * 1024 }).problem(), undefined);
  });

  it('has nothing against a folder that is not there yet', () => {
    assert.equal(new DiskSpace('/nowhere/outputs').problem(), undefined);
  });

  it('retries a write until there is room, and logs that it waits', async () => {
    const disk = new DiskSpace('/nowhere/outputs');
    let tries = 0;
    const writing = disk.whenThereIsRoom(async () => {
      tries += 1;
      if (tries < 3) throw failing(tries === 1 ? 'ENOSPC' : 'EDQUOT');
      return 'written';
    });
    await new Promise(setImmediate);
    assert.equal(disk.problem(), 'disk full: 1 PDFs wait for room in /nowhere/outputs');
    assert.equal(await writing, 'written');
    assert.equal(disk.problem(), undefined);
  });

  it('rethrows every other error, at first and while waiting', async () => {
    const disk = new DiskSpace('/nowhere/outputs');
    await assert.rejects(
      disk.whenThereIsRoom(() => Promise.reject(failing('EACCES'))),
      { code: 'EACCES' },
    );
    let tries = 0;
    const errors = () => Promise.reject(failing(tries++ === 0 ? 'ENOSPC' : 'EIO'));
    await assert.rejects(disk.whenThereIsRoom(errors), { code: 'EIO' });
    assert.equal(disk.problem(), undefined);
  });

  it('stops waiting when its signal aborts', async () => {
    const disk = new DiskSpace('/nowhere/outputs');
    const end = new AbortController();
    const writing = disk.whenThereIsRoom(() => Promise.reject(failing('ENOSPC')), end.signal);
    await new Promise(setImmediate);
    end.abort('shutdown');
    await assert.rejects(writing, { name: 'AbortError' });
    assert.equal(disk.problem(), undefined);
  });
});
