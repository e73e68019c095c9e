import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findBrowser } from '../../../src/render/chromium/process/find-browser.ts';
import { FONT_CONFIGURATION } from '../../../src/render/chromium/process/fonts.ts';

describe('finding a browser', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'platen-find-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const program = (path: string) => {
    const whole = join(folder, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, '');
    chmodSync(whole, 0o755);
    return whole;
  };
  const find = (browserPath?: string) =>
    findBrowser({
      browserPath,
      env: { PATH: join(folder, 'bin'), PUPPETEER_CACHE_DIR: join(folder, 'cache') },
      warn: (message) => assert.fail(message),
    });

  it('takes the one that is named before all others', async () => {
    program('bin/chromium-headless-shell');
    const named = program('elsewhere/chromium');
    assert.deepEqual(await find(named), {
      path: named,
      kind: 'full',
      env: { FONTCONFIG_FILE: FONT_CONFIGURATION },
    });
  });

  it("lets the operator's own configuration of fonts hold", async () => {
    const named = program('elsewhere/chromium');
    const env = { FONTCONFIG_FILE: '/srv/fonts.conf' };
    const { env: added } = await findBrowser({ browserPath: named, env, warn: assert.fail });
    assert.deepEqual(added, {});
  });

  it('rejects a configured browser that cannot be run', async () => {
    await assert.rejects(find(join(folder, 'nothing')), /cannot be run/);
  });

  it('takes the shell on PATH before one that was downloaded', async () => {
    const downloaded = program(
      'cache/chrome-headless-shell/linux-99.0/chrome-headless-shell-linux64/chrome-headless-shell',
    );
    assert.equal((await find()).path, downloaded);
    const newer = program(
      'cache/chrome-headless-shell/linux-140.0/chrome-headless-shell-linux64/chrome-headless-shell',
    );
    assert.equal((await find()).path, newer);
    const installed = program('bin/chromium-headless-shell');
    assert.equal((await find()).path, installed);
  });

  it('takes the one that a package carries where there is no other, unpacked once', async () => {
    program('bin/chromium');
    const first = await find();
    assert.equal(first.kind, 'shell');
    assert.match(first.path, /chromium-headless-shell$/);
    const { ino, ctimeNs } = statSync(first.path, { bigint: true });
    assert.deepEqual(await find(), first);
    const again = statSync(first.path, { bigint: true });
    assert.deepEqual({ ino: again.ino, ctimeNs: again.ctimeNs }, { ino, ctimeNs });
  });
});
