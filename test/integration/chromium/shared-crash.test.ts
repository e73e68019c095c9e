import assert from 'node:assert/strict';
import type { PlatenError } from '../../../src/errors/registry.ts';
import { eventually } from '../../support/eventually.ts';
import { type Bench, failure, mainProcesses, render, type Site, startBench, startSite } from './support.ts';

const SLOW = { delayMs: 20_000 };
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';

describe('the death of a browser', () => {
  let bench: Bench;
  /** What is asked for here is asked for by a document in its page. */
  let site: Site;
  beforeEach(async () => {
    bench = await startBench({ browsers: 1, slots: 2 });
    site = await startSite((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(SVG),
    );
  });
  afterEach(async () => {
    await bench.close();
    await site.close();
  });

  const kill = async (pid: number, ...renders: Promise<unknown>[]) => {
    const ends = renders.map((rendering) => failure(rendering) as Promise<unknown> as Promise<PlatenError>);
    await eventually('each is in its page', () => site.requests.length === renders.length);
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
    const neighbour = render(bench, '<p>x', { delayMs: 4000 }, { accountId: 'b' });
    const lonely = slow('a', true);
    lonely.catch(() => undefined);
    await eventually('there is another browser', () => mainProcesses().length === 2);
    const own = mainProcesses().find((pid) => pid !== kept)!;
    await eventually('it is in its page', () => site.requests.length === 1);
    process.kill(own, 'SIGKILL');
    const { code, shared } = (await failure(lonely)) as unknown as PlatenError;
    assert.deepEqual({ code, shared }, { code: 'BROWSER_CRASHED', shared: false });
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
