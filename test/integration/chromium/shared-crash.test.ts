import assert from 'node:assert/strict';
import type { PlatenError } from '../../../src/infra/errors/registry.ts';
import { eventually } from '../../support/eventually.ts';
import { HELD, type ImageSite, startImageSite } from './image-site.ts';
import { type Bench, failure, mainProcesses, render, startBench } from './support.ts';

const SLOW = { delayMs: 20_000 };

describe('the death of a browser', () => {
  let bench: Bench;
  let site: ImageSite;
  beforeEach(async () => {
    bench = await startBench({ browsers: 1, slots: 2 });
    site = await startImageSite();
  });
  afterEach(async () => {
    await bench.close();
    await site.close();
  });

  const kill = async (pid: number, ...renders: Promise<unknown>[]) => {
    const ends = renders.map((rendering) => failure(rendering) as Promise<unknown> as Promise<PlatenError>);
    await site.asked(renders.length);
    assert.equal(bench.renderer.health().busy, renders.length);
    process.kill(pid, 'SIGKILL');
    return (await Promise.all(ends)).map(({ code, shared }) => ({ code, shared }));
  };
  const slow = (accountId: string, alone = false) =>
    render(bench, `<p>x<img src="${site.at(`/${accountId}`)}">`, SLOW, { accountId, alone });

  it("is nobody's doing when others were in it", async () => {
    const ends = await kill(mainProcesses()[0]!, slow('a'), slow('b'));
    assert.deepEqual(ends, Array(2).fill({ code: 'BROWSER_CRASHED', shared: true }));
  });

  it('is the doing of the one that was in it', async () => {
    assert.deepEqual(await kill(mainProcesses()[0]!, slow('a')), [
      { code: 'BROWSER_CRASHED', shared: false },
    ]);
  });

  it('is met by one alone when it had to be alone, and by no other', async () => {
    const [kept] = mainProcesses();
    const neighbour = render(bench, `<p>x<img src="${site.at(HELD)}">`, {}, { accountId: 'b' });
    const lonely = slow('a', true);
    lonely.catch(() => undefined);
    await eventually('there is another browser', () => mainProcesses().length === 2);
    const own = mainProcesses().find((pid) => pid !== kept)!;
    await site.asked(1, '/a');
    process.kill(own, 'SIGKILL');
    const { code, shared } = (await failure(lonely)) as unknown as PlatenError;
    assert.deepEqual({ code, shared }, { code: 'BROWSER_CRASHED', shared: false });
    site.letGo();
    await neighbour;
    await eventually('only the other is left', () => mainProcesses().every((pid) => pid === kept));
    assert.deepEqual(mainProcesses(), [kept]);
  });

  it('comes to the browser of a render that was alone, when that has ended', async () => {
    const [kept] = mainProcesses();
    await render(bench, '<p>x', {}, { alone: true });
    await eventually('only the other is left', () => mainProcesses().every((pid) => pid === kept));
    assert.deepEqual(bench.restarts, []);
    await render(bench, '<p>x');
  });
});
