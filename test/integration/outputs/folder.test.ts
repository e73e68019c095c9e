import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createFolderOutputStore } from '../../../src/infra/outputs/folder.ts';
import { HOUR_MS, type OutputKey, outputKey } from '../../../src/infra/outputs/output-store.ts';

describe('Output folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-outputs-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('rejects keys that would lead to another folder', async () => {
    const store = createFolderOutputStore(join(folder, 'outputs'));
    await writeFile(join(folder, 'secret.1.pdf'), 'secret');
    for (const key of [
      '../secret.1.pdf',
      '1/../../secret.1.pdf',
      '1/a/b.1.pdf',
      '/1/a.1.pdf',
      '1/.1.pdf',
      '1/a.1.pdf\0',
      '1/a.1.pdf\n',
      '',
      'x/a.1.pdf',
    ]) {
      await assert.rejects(store.get(key as OutputKey), RangeError, key);
      await assert.rejects(store.put(key as OutputKey, Buffer.from('x')), RangeError, key);
      await assert.rejects(store.delete(key as OutputKey), RangeError, key);
    }
  });

  it('makes its folders again when they are gone: a sweep takes away those that are empty', async () => {
    const store = createFolderOutputStore(join(folder, 'outputs'));
    const expiresAt = new Date(Date.now() + HOUR_MS);
    for (let i = 0; i < 3; i += 1) {
      const key = outputKey(`job-${i}`, 1, expiresAt);
      await store.put(key, Buffer.from(`${i}`));
      const output = await store.get(key);
      assert.equal((await buffer(output!.stream)).toString(), `${i}`);
      await rm(join(folder, 'outputs'), { recursive: true });
    }
  });

  it('does not follow a link that has replaced a file', async () => {
    const store = createFolderOutputStore(folder);
    await mkdir(join(folder, '500000'));
    await writeFile(join(folder, 'secret'), 'secret');
    await symlink(join(folder, 'secret'), join(folder, '500000', 'job.1.pdf'));
    await assert.rejects(store.get('500000/job.1.pdf' as OutputKey), { code: 'ELOOP' });
  });

  it('deletes only what is its own', async () => {
    const store = createFolderOutputStore(folder);
    const now = new Date();
    const elsewhere = await mkdtemp(join(tmpdir(), 'platen-elsewhere-'));
    await writeFile(join(elsewhere, 'job.1.pdf'), 'x');
    await symlink(elsewhere, join(folder, '100000'));
    await mkdir(join(folder, '100001'));
    await writeFile(join(folder, '100001', 'notes.txt'), 'x');
    await writeFile(join(folder, '100001', 'job.1.pdf'), 'x');
    await mkdir(join(folder, 'photos'));
    assert.equal(await store.deleteExpired(now), 1);
    assert.deepEqual((await readdir(folder)).sort(), ['100000', '100001', 'photos']);
    assert.deepEqual(await readdir(join(folder, '100001')), ['notes.txt']);
    assert.deepEqual(await readdir(elsewhere), ['job.1.pdf']);
    await rm(elsewhere, { recursive: true });
  });

  it('removes the folders of hours that have expired', async () => {
    const store = createFolderOutputStore(folder);
    const expiresAt = new Date(Date.now() + 5000);
    await store.put(outputKey('job', 1, expiresAt), Buffer.from('x'));
    assert.equal(await store.deleteExpired(new Date(expiresAt.getTime() + HOUR_MS)), 1);
    assert.deepEqual(await readdir(folder), ['unfinished']);
  });

  it('shows nothing of a put whose process is killed, and clears its remains away after an hour', async () => {
    const module = new URL('../../../src/infra/outputs/folder.ts', import.meta.url).href;
    const script = `
      const { createFolderOutputStore } = await import(${JSON.stringify(module)});
      const store = createFolderOutputStore(${JSON.stringify(folder)});
      const pdf = Buffer.alloc(60_000_000, 'x');
      console.log('go');
      for (let n = 1; ; n++) await store.put('999000/job.' + n + '.pdf', pdf);`;
    const writer = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(writer.stdout, 'data');
    const unfinished = join(folder, 'unfinished');
    let drafts: string[] = [];
    while (drafts.length === 0) drafts = await readdir(unfinished).catch(() => []);
    writer.kill('SIGKILL');
    await once(writer, 'exit');

    const store = createFolderOutputStore(folder);
    for (let n = 1; n < 20; n++) {
      const stored = await store.get(`999000/job.${n}.pdf` as OutputKey);
      if (stored === undefined) continue;
      assert.equal((await buffer(stored.stream)).length, 60_000_000);
    }
    const left = await readdir(unfinished);
    await store.deleteExpired(new Date());
    assert.deepEqual(await readdir(unfinished), left, 'it may still be written');
    const old = new Date(Date.now() - HOUR_MS - 5000);
    for (const name of left) await utimes(join(unfinished, name), old, old);
    await store.deleteExpired(new Date());
    assert.deepEqual(await readdir(unfinished), []);
  });
});
