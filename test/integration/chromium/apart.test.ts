import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { type Bench, failure, mainProcesses, render, startBench } from './support.ts';

const SCRIPTED = '<p id=p>x</p><script>p.textContent = "scripted"</script>';
const assetHeaders = { 'X-Asset': 'a' };

describe('renders apart from others', function () {
  this.timeout(60_000);
  let bench: Bench;
  let everybodys: number;
  beforeEach(async () => {
    bench = await startBench({ browsers: 1, slots: 3, checkEveryMs: 250 });
    everybodys = mainProcesses()[0]!;
  });
  afterEach(() => bench.close());

  const others = () => mainProcesses().filter((pid) => pid !== everybodys);
  const slow = (accountId: string, options = {}) => {
    const rendering = render(bench, SCRIPTED, { delayMs: 5000, ...options }, { accountId });
    rendering.catch(() => undefined);
    return rendering;
  };

  it('share a browser that their documents can break for each other alone', async () => {
    const neighbour = slow('neighbour');
    const apart = ['a', 'b'].map((account) => slow(account, { assetHeaders }));
    await eventually('there is another browser', () => others().length > 0);
    await pause(1500);
    assert.equal(others().length, 1);
    process.kill(others()[0]!, 'SIGKILL');
    for (const rendering of apart) assert.equal((await failure(rendering)).code, 'BROWSER_CRASHED');
    await neighbour;
    assert.deepEqual(mainProcesses(), [everybodys]);
    await render(bench, SCRIPTED, { assetHeaders });
  });

  it('have no browser when there are none', async () => {
    for (let i = 0; i < 2; i += 1) {
      await render(bench, SCRIPTED, { assetHeaders });
      assert.equal(others().length, 1);
    }
    await eventually('their browser has ended', () => others().length === 0, 15_000);
    await render(bench, '<p>still', { assetHeaders });
    assert.equal(others().length, 0, 'without script it need not be apart');
    assert.deepEqual(bench.restarts, []);
  });

  it('are all those of an account whose document has gone past a bound', async () => {
    const alerts = '<script>for (let i = 0; i < 200; i++) alert(i)</script>';
    const error = await failure(render(bench, alerts, {}, { accountId: 'a' }));
    assert.equal(error.code, 'DOCUMENT_LIMIT');
    const [first, second] = [slow('a'), slow('b')];
    await eventually('there is another browser', () => others().length > 0);
    await pause(1500);
    process.kill(others()[0]!, 'SIGKILL');
    assert.equal((await failure(first)).code, 'BROWSER_CRASHED');
    await second;
  });
});
