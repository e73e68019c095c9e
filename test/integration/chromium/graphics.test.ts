import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { kindOf, processTree, sampleProcess } from '../../../src/render/chromium/process/processes.ts';
import { ENDLESS_DRAWING, ENDLESS_DRAWING_LEFT } from '../../support/endless-drawing.ts';
import { eventually } from '../../support/eventually.ts';
import { renderPage } from '../../support/pdf.ts';
import { HELD, type ImageSite, startImageSite } from './image-site.ts';
import { type Bench, failure, mainProcesses, render, startBench } from './support.ts';

const RED = [255, 0, 0] as const;
const MIB = 1024 ** 2;

/** A document that draws a red square by WebGL. */
const SQUARE = `<canvas width=100 height=100></canvas><script>
  const gl = document.querySelector('canvas').getContext('webgl', { preserveDrawingBuffer: true });
  gl.clearColor(1, 0, 0, 1);
  gl.clear(gl.COLOR_BUFFER_BIT);
</script>`;

/** Which process draws, of the only browser. */
function gpuProcess(): number | undefined {
  return processTree(process.pid).find(({ pid }) => kindOf(pid) === 'gpu')?.pid;
}

describe('the process in which all pages of a browser draw WebGL', () => {
  let bench: Bench;
  let site: ImageSite;
  let ended: string[];
  beforeEach(() => {
    ended = [];
  });
  afterEach(async () => {
    await bench.close();
    await site?.close();
  });

  const start = async (options: Parameters<typeof startBench>[0] = {}) => {
    bench = await startBench({
      browsers: 1,
      slots: 4,
      checkEveryMs: 300,
      metrics: {
        browsers: { set: () => undefined },
        browserRestarts: { inc: () => undefined },
        browserProcessesEnded: { inc: ({ kind, reason }) => ended.push(`${kind} ${reason}`) },
      },
      ...options,
    });
    site = await startImageSite();
  };
  /** The red of a square, in at most as many attempts as a job has: the process may end during the first ones. */
  const squareOf = async (accountId: string): Promise<number> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { bytes } = await render(bench, SQUARE, {}, { accountId });
        return (await renderPage(bytes)).countColor(RED);
      } catch (error) {
        if (attempt === 3 || !(error instanceof PlatenError && error.shared)) throw error;
      }
    }
  };

  for (const [name, hostile, code, timeoutMs] of [
    ['waits for its drawing until its time is over', ENDLESS_DRAWING, 'RENDER_TIMEOUT', 3000],
    ['has been printed', ENDLESS_DRAWING_LEFT, 'none', 60_000],
  ] as const) {
    it(`draws for others after a document with an endless shader that ${name}`, async () => {
      await start();
      assert.ok((await squareOf('neighbour')) > 3000);
      const before = gpuProcess();
      const end = await render(bench, hostile, {}, { accountId: 'enemy', timeoutMs }).then(
        () => 'none',
        (error: PlatenError) => error.code,
      );
      assert.equal(end, code);
      // Without WebGL a neighbour does not notice anything at any time.
      await render(bench, '<p>x<script>document.body.append(1)</script>', {}, { accountId: 'other' });
      assert.ok((await squareOf('neighbour')) > 3000);
      // More than once where the one that follows does not draw in time either, on a machine that is busy.
      assert.ok(ended.length > 0 && ended.every((end) => end === 'gpu hung'), String(ended));
      assert.notEqual(gpuProcess(), before);
      assert.deepEqual(bench.restarts, []);
    });
  }

  it('is ended for a document that still runs, and its account has a browser to itself from then on', async () => {
    await start();
    const [shared] = mainProcesses();
    const enemy = render(bench, ENDLESS_DRAWING, {}, { accountId: 'enemy' });
    enemy.catch(() => undefined);
    await eventually('it is ended', () => ended.length > 0);
    const { code, shared: isShared } = (await failure(enemy)) as unknown as PlatenError;
    assert.deepEqual({ code, isShared }, { code: 'BROWSER_CRASHED', isShared: true });

    const again = render(bench, ENDLESS_DRAWING, {}, { accountId: 'enemy' });
    again.catch(() => undefined);
    await eventually('another browser runs', () => mainProcesses().length === 2);
    for (let i = 0; i < 10; i++) assert.ok((await squareOf('neighbour')) > 3000);
    assert.deepEqual(ended, ['gpu hung']);
    assert.ok(mainProcesses().includes(shared!));
    await bench.renderer.close();
    await failure(again);
  });

  it('may end again and again', async () => {
    await start();
    for (let i = 0; i < 10; i++) {
      assert.ok((await squareOf('neighbour')) > 3000, `after ${i} ends`);
      const gpu = gpuProcess()!;
      process.kill(gpu, 'SIGKILL');
      await eventually('it has ended', () => sampleProcess(gpu) === undefined);
    }
    assert.deepEqual(bench.restarts, []);
  });

  it('takes the drawings of renders with it, which then fail instead of lacking them', async () => {
    await start();
    const held = (html: string, accountId: string) =>
      render(bench, `${html}<img src="${site.at(`${HELD}/${accountId}`)}">`, {}, { accountId });
    const drawn = failure(held(SQUARE, 'a'));
    const other = held(
      '<canvas></canvas><script>document.querySelector("canvas").getContext("2d").fillRect(0, 0, 9, 9)</script>',
      'b',
    );
    await site.asked(1, `${HELD}/a`);
    await site.asked(1, `${HELD}/b`);
    const gpu = gpuProcess()!;
    process.kill(gpu, 'SIGKILL');
    await eventually('it has ended', () => sampleProcess(gpu) === undefined);
    site.letGo();
    const { code, shared } = (await drawn) as unknown as PlatenError;
    assert.deepEqual({ code, shared }, { code: 'BROWSER_CRASHED', shared: true });
    await other;
    assert.ok((await squareOf('a')) > 3000);
  });

  it('is ended when it has too much memory', async () => {
    await start({ rendererMemoryBytes: 400 * MIB });
    const textures = `<p>x<canvas></canvas><script>
      const gl = document.querySelector('canvas').getContext('webgl');
      for (let i = 0; i < 20; i++) {
        gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 4096, 4096, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, null, 0);
        gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 4096, 2048, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4096 * 2048 * 4));
      }
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    </script><img src="${site.at(HELD)}">`;
    // A render may end before the process has drawn that much.
    const insist = async () => {
      for (let tries = 0; tries < 20 && !ended.includes('gpu memory'); tries += 1)
        await render(bench, textures, {}, { accountId: 'enemy' }).catch(() => undefined);
    };
    const enemy = insist();
    await eventually('it is ended', () => ended.includes('gpu memory'));
    site.letGo();
    await enemy;
    assert.ok((await squareOf('neighbour')) > 3000);
    assert.deepEqual(bench.restarts, []);
  });

  it('and the one that fetches end without a render that lacks something', async () => {
    await start();
    for (const html of ['<p>x', '<p>x<script>document.body.append(1)</script>']) {
      const path = `${HELD}/${html.length}`;
      const before = site.requests.length;
      const rendering = failure(render(bench, `${html}<img src="${site.at(path)}">`, {}, { accountId: 'a' }));
      await eventually('it fetches', () => site.requests.length > before);
      const network = processTree(process.pid).find(({ pid }) => kindOf(pid) === 'network')!.pid;
      process.kill(network, 'SIGKILL');
      const { code, shared } = (await rendering) as unknown as PlatenError;
      assert.deepEqual({ code, shared }, { code: 'BROWSER_CRASHED', shared: true });
    }
    site.letGo();
    await render(bench, `<p>x<img src="${site.at('/picture')}">`, {}, { accountId: 'a' });
    assert.ok(site.requests.some(({ path }) => path === '/picture'));
    assert.deepEqual(bench.restarts, []);
  });
});
