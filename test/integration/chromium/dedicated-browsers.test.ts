import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { HELD, type ImageSite, startImageSite } from './image-site.ts';
import { type Bench, failure, mainProcesses, render, startBench, useBench } from './support.ts';

const SCRIPTED = '<p id=p>x</p><script>p.textContent = "scripted"</script>';
const assetHeaders = { 'X-Asset': 'a' };

describe('renders in dedicated browsers', () => {
  let bench: Bench;
  let everybodys: number;
  let site: ImageSite;
  beforeEach(async () => {
    bench = await startBench({ browsers: 1, slots: 3, checkEveryMs: 250 });
    everybodys = mainProcesses()[0]!;
    site = await startImageSite();
  });
  afterEach(async () => {
    await bench.close();
    await site.close();
  });

  const others = () => mainProcesses().filter((pid) => pid !== everybodys);
  /** A render that goes on until the site lets it go. */
  const held = (accountId: string, options = {}) => {
    const html = `${SCRIPTED}<img src="${site.at(`${HELD}/${accountId}`)}">`;
    const rendering = render(bench, html, options, { accountId });
    rendering.catch(() => undefined);
    return rendering;
  };
  const inPages = (accountId: string, count: number) => site.asked(count, `${HELD}/${accountId}`);

  it('share a browser that they can break for other documents of their account alone', async () => {
    const dedicated = ['a', 'a'].map((account) => held(account, { assetHeaders }));
    await inPages('a', 2);
    assert.equal(others().length, 1);
    const [accounts] = others();
    const neighbour = held('b', { assetHeaders });
    await eventually('another account has another browser', () => others().length === 2);
    process.kill(accounts!, 'SIGKILL');
    for (const rendering of dedicated) assert.equal((await failure(rendering)).code, 'BROWSER_CRASHED');
    site.letGo();
    await neighbour;
    await render(bench, SCRIPTED, { assetHeaders });
  });

  it('cannot break the browser that everybody shares', async () => {
    const neighbour = held('neighbour');
    const dedicated = held('a', { assetHeaders });
    await inPages('neighbour', 1);
    await inPages('a', 1);
    process.kill(others()[0]!, 'SIGKILL');
    assert.equal((await failure(dedicated)).code, 'BROWSER_CRASHED');
    site.letGo();
    await neighbour;
    await eventually('it has ended', () => others().length === 0);
    assert.deepEqual(mainProcesses(), [everybodys]);
  });

  it('have no browser when there are none', async () => {
    for (let i = 0; i < 2; i += 1) {
      await render(bench, SCRIPTED, { assetHeaders });
      assert.equal(others().length, 1);
    }
    await eventually('their browser has ended', () => others().length === 0);
    await render(bench, '<p>still', { assetHeaders });
    assert.equal(others().length, 0, 'without script it need not be apart');
    assert.deepEqual(bench.restarts, []);
  });

  it('are all those of an account whose document has gone past a bound', async () => {
    const alerts = '<script>for (let i = 0; i < 200; i++) alert(i)</script>';
    const error = await failure(render(bench, alerts, {}, { accountId: 'a' }));
    assert.equal(error.code, 'DOCUMENT_LIMIT');
    const [first, second] = [held('a'), held('b')];
    await inPages('a', 1);
    await inPages('b', 1);
    process.kill(others()[0]!, 'SIGKILL');
    assert.equal((await failure(first)).code, 'BROWSER_CRASHED');
    site.letGo();
    await second;
  });
});

describe('dedicated browsers', () => {
  const bench = useBench({ browsers: 1, slots: 8, dedicatedBrowsers: 2, checkEveryMs: 250 }, 'each');
  let everybodys: number;
  beforeEach(() => {
    everybodys = mainProcesses()[0]!;
  });

  const bothBusy = () => eventually('both are there', () => mainProcesses().length === 3);
  /** The most of them that there were at a time until `work` has settled. */
  async function mostDuring(work: Promise<unknown>): Promise<number> {
    let most = 0;
    const check = () => {
      most = Math.max(most, mainProcesses().filter((pid) => pid !== everybodys).length);
    };
    const timer = setInterval(check, 20);
    await work.finally(() => clearInterval(timer));
    return most;
  }

  it('are bounded, whatever they are for, and granted fairly to accounts', async () => {
    const accounts = ['a', 'b', 'c', 'd', 'e', 'f'];
    const headers = accounts.map((accountId) => render(bench, SCRIPTED, { assetHeaders }, { accountId }));
    const alone = ['g', 'h'].map((accountId) => render(bench, SCRIPTED, {}, { accountId, alone: true }));
    const most = await mostDuring(Promise.all([...headers, ...alone]));
    // One more where all are slow to leave, as on a machine that stands still for a second.
    assert.ok(most === 2 || most === 3, `${most} browsers for ${accounts.length + 2} accounts`);
  });

  it('give way to an account that has none, however much others have to render', async () => {
    let over = false;
    const busy = ['a', 'b'].map(async (accountId) => {
      while (!over)
        await Promise.all(
          [300, 700].map((delayMs) => render(bench, SCRIPTED, { assetHeaders, delayMs }, { accountId })),
        );
    });
    await bothBusy();
    const newcomer = render(bench, SCRIPTED, { assetHeaders }, { accountId: 'c' });
    await newcomer.finally(() => {
      over = true;
    });
    await Promise.all(busy);
  });

  it('are waited for no longer than a render has time', async () => {
    const over = new AbortController();
    const busy = ['a', 'b'].map((accountId) =>
      failure(render(bench, SCRIPTED, { delayMs: 30_000 }, { accountId, alone: true, signal: over.signal })),
    );
    await bothBusy();
    const late = render(bench, SCRIPTED, { assetHeaders }, { accountId: 'c', timeoutMs: 1500 });
    assert.equal((await failure(late)).code, 'RENDER_TIMEOUT');
    over.abort();
    for (const { code } of await Promise.all(busy)) assert.equal(code, 'CANCELLED');
    await render(bench, SCRIPTED, { assetHeaders }, { accountId: 'c' });
  });
});
