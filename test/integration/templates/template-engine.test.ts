import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import {
  createTemplateEngine,
  type TemplateEngine,
} from '../../../src/tenants/templates/engine/template-engine.ts';
import { eventually } from '../../support/eventually.ts';
import { assertGone, descendants, type ProcessId } from '../../support/processes.ts';

const PROCESSES = 2;
const LIMITS = { timeoutMs: 1000, maxOutputBytes: 1_000_000 };
/** For what ends by itself, on a machine that may stand still for a moment. */
const AMPLE = { ...LIMITS, timeoutMs: 10_000 };

/** Loops inside one filter, where LiquidJS checks no limit: only a kill ends it. */
const ENDLESS =
  '{% assign a = "" | split: "," %}{% for i in (1..60) %}{% assign a = a | push: a %}{% endfor %}{{ a }}';
/** Stays within what LiquidJS counts, and outgrows the heap of its process in a single step. */
const GREEDY = '{{ s | split: "" | sort | uniq | size }}';

describe('Template engine', () => {
  let engine: TemplateEngine;
  /** Of the engine that other tests of this process share. */
  let others: Set<number>;

  before(async () => {
    others = new Set(templateProcesses(process.pid).map(({ pid }) => pid));
    engine = createTemplateEngine({ processes: PROCESSES });
    await engine.check('warm');
  });
  after(() => engine.close());

  const isTemplateError =
    (message: RegExp) =>
    (error: unknown): boolean => {
      assert.ok(error instanceof PlatenError, String(error));
      assert.equal(error.code, 'TEMPLATE_ERROR');
      assert.match(error.message, message);
      return true;
    };

  const ownProcesses = () => templateProcesses(process.pid).filter(({ pid }) => !others.has(pid));

  /** The engine's processes: it replaces each killed one, in its own time. */
  async function processesAtRest(): Promise<ProcessId[]> {
    // A process that has just been killed still exists for a moment, and would count as one that stays. Once its
    // replacement responds, it has gone.
    await engine.render('{{ 1 }}', {}, AMPLE);
    let found: ProcessId[] = [];
    await eventually('as many processes as the engine has', () => {
      found = ownProcesses();
      return found.length === PROCESSES;
    });
    return found;
  }

  it('renders a template with its data', async () => {
    const html = await engine.render('<p>{{ a.b }} {{ none }}</p>', { a: { b: 'Zoë & <Co>' } }, AMPLE);
    assert.equal(html, '<p>Zoë &amp; &lt;Co&gt; </p>');
  });

  it('reports syntax errors with line and column, without rendering', async () => {
    await engine.check('{% for i in (1..999999999) %}{% endfor %}');
    await assert.rejects(engine.check('ok\n  {% endif %}'), isTemplateError(/^Line 2, column 3: /));
    await assert.rejects(
      engine.render('{{ x | nope }}', {}, AMPLE),
      isTemplateError(/undefined filter: nope/),
    );
  });

  it('ends a template that loops for ever within its limit, and renders the next one', async () => {
    await assert.rejects(engine.render(ENDLESS, {}, LIMITS), isTemplateError(/runs longer than 1000 ms/));
    assert.equal(await engine.render('{{ 1 }}', {}, AMPLE), '1');
  });

  it('names the line when the loop can be interrupted', async () => {
    const loop = 'x\n{% for i in (1..1000000) %}{% for j in (1..1000) %}{% endfor %}{% endfor %}';
    await assert.rejects(engine.render(loop, {}, LIMITS), isTemplateError(/^Line 2, .*runs longer/));
  });

  it('survives a template that allocates without end', async () => {
    const limits = { timeoutMs: 20_000, maxOutputBytes: 100_000_000 };
    const greedy = engine.render(GREEDY, { s: 'ab'.repeat(5_000_000) }, limits);
    await assert.rejects(greedy, isTemplateError(/memory/));
    assert.equal(await engine.render('{{ 2 }}', {}, AMPLE), '2');
  });

  it('recovers after many hostile templates at once, and none delays other templates for long', async () => {
    const hostile = Array.from({ length: 6 }, () =>
      assert.rejects(
        engine.render(ENDLESS, {}, { ...LIMITS, timeoutMs: 300 }),
        isTemplateError(/runs longer/),
      ),
    );
    const honest = Array.from({ length: 20 }, (_, n) => engine.render('{{ n }}', { n }, AMPLE));
    assert.deepEqual(
      await Promise.all(honest),
      Array.from({ length: 20 }, (_, n) => String(n)),
    );
    await Promise.all(hostile);
  });

  it("renders another account's templates while those of ten others never end", async () => {
    const long = { ...LIMITS, timeoutMs: 80_000 };
    const stop = new AbortController();
    await engine.render('{{ 1 }}', {}, AMPLE, { account: 'neighbour' });
    let ended = 0;
    const endless = Array.from({ length: 30 }, (_, n) =>
      engine
        .render(ENDLESS, {}, long, { account: `hostile ${n % 10}`, signal: stop.signal })
        .catch(() => undefined)
        .finally(() => {
          ended += 1;
        }),
    );
    for (let n = 0; n < 10; n += 1) {
      assert.equal(await engine.render('{{ n }}', { n }, AMPLE, { account: 'neighbour' }), String(n));
    }
    assert.equal(ended, 0, 'none of the endless ones had to end for it');
    stop.abort();
    await Promise.all(endless);
  });

  it("ends at the render's own deadline, though it has only waited", async () => {
    const single = createTemplateEngine({ processes: 1 });
    try {
      const stop = new AbortController();
      const long = { ...LIMITS, timeoutMs: 20_000 };
      const endless = [1, 2].map(() => single.render(ENDLESS, {}, long, { signal: stop.signal }));
      const outcomes = Promise.allSettled(endless);
      await assert.rejects(single.render('{{ 1 }}', {}, AMPLE, { withinMs: 300 }), {
        code: 'RENDER_TIMEOUT',
      });
      stop.abort();
      await outcomes;
      assert.equal(await single.render('{{ 1 }}', {}, AMPLE), '1', 'its place in the line has been left');
    } finally {
      await single.close();
    }
  });

  it('drops a render whose caller has gone, whether it waits or runs', async () => {
    const [running, waiting] = [new AbortController(), new AbortController()];
    const long = { ...LIMITS, timeoutMs: 20_000 };
    const renders = [running, running, waiting].map((controller) =>
      engine.render(ENDLESS, {}, long, { signal: controller.signal }),
    );
    const outcomes = Promise.allSettled(renders);
    await sleep(100);
    waiting.abort();
    await assert.rejects(renders[2]!, { code: 'CANCELLED' });
    running.abort(new PlatenError('RENDER_TIMEOUT'));
    await assert.rejects(renders[0]!, { code: 'RENDER_TIMEOUT' });
    await outcomes;
    assert.equal(await engine.render('{{ 3 }}', {}, AMPLE), '3');
    await assert.rejects(engine.render('{{ 3 }}', {}, LIMITS, { signal: AbortSignal.abort() }), {
      code: 'CANCELLED',
    });
  });

  it('starts no process for an ordinary render', async () => {
    const before = await processesAtRest();
    const rows = Array.from({ length: 50 }, (_, n) => ({ n }));
    const source = '<table>{% for row in rows %}<tr><td>{{ row.n }}</td></tr>{% endfor %}</table>';
    for (let round = 0; round < 50; round++) await engine.render(source, { rows }, AMPLE);
    assert.deepEqual(ownProcesses(), before);
  });

  it('rejects all calls under way and later once closed, and leaves no process', async () => {
    const before = await processesAtRest();
    const closing = createTemplateEngine({ processes: 1 });
    await closing.check('warm');
    const known = new Set(before.map(({ pid }) => pid));
    const started = ownProcesses().filter(({ pid }) => !known.has(pid));
    assert.equal(started.length, 1);
    const outcomes = Promise.allSettled([1, 2].map(() => closing.render(ENDLESS, {}, AMPLE)));
    await sleep(50);
    await closing.close();
    for (const outcome of await outcomes) {
      assert.equal(outcome.status, 'rejected');
      assert.equal((outcome.reason as PlatenError).code, 'UNAVAILABLE');
    }
    await assert.rejects(closing.check('x'), { code: 'UNAVAILABLE' });
    await assertGone(started);
  });

  it('leaves no process behind when its parent is killed, even in mid-loop', async () => {
    const enginePath = new URL('../../../src/tenants/templates/engine/template-engine.ts', import.meta.url)
      .href;
    const script = `
      const { createTemplateEngine } = await import(${JSON.stringify(enginePath)});
      const engine = createTemplateEngine({ processes: 2 });
      await engine.check('warm');
      for (let n = 0; n < 2; n += 1)
        void engine.render(${JSON.stringify(ENDLESS)}, {}, { timeoutMs: 60000, maxOutputBytes: 1000 });
      setTimeout(() => console.log('looping'), 200);`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(host.stdout, 'data');
    const children = templateProcesses(host.pid!);
    assert.equal(children.length, 2);
    host.kill('SIGKILL');
    await assertGone(children);
  });
});

function templateProcesses(parent: number): ProcessId[] {
  return descendants(parent).filter(({ command }) => command.includes('process-main'));
}
