import assert from 'node:assert/strict';
import type { Tenant } from '../support/service.ts';
import type { Arena } from './support/arena.ts';
import { sharedArena } from './support/shared-arena.ts';

/** Layouts that never rest: each change of a size or a position causes the next. */
const RESTLESS = [
  `<div id=box style="width: 100px">x</div><script>
    new ResizeObserver(() => { box.style.width = 100 + (box.offsetWidth + 1) % 400 + 'px' }).observe(box)</script>`,
  `<div id=box>x</div><script>
    const step = () => { box.style.marginTop = (box.offsetTop + 7) % 900 + 'px'; box.append('y'); requestAnimationFrame(step) }
    step()</script>`,
  `<style>@keyframes k { from { width: 1px } to { width: 3000px } } div { animation: k 50ms infinite alternate }</style><div>x</div>`,
];

/** How a render may end on a busy machine: printing these documents takes long. */
const LAST_RESORT = 'RENDER_TIMEOUT';

interface Reported {
  /** `completed`, or an error code. */
  readonly end: string;
  readonly warnings: readonly string[];
  readonly truncated: readonly string[];
}

describe('Reports of hostile documents are made while others render:', () => {
  let arena: Arena;
  before(async () => {
    arena = await sharedArena();
  });

  async function reported({ client }: Tenant, body: object): Promise<Reported> {
    const submission = { ...body, options: { timeoutMs: 30_000, report: true } };
    const jobId = await client.submit(submission);
    const { status, error } = await client.end(jobId);
    const { json } = await client.call('GET', `/v1/pdf/jobs/${jobId}/report`);
    const end = error?.code ?? status;
    assert.ok(end === 'completed' || end === LAST_RESORT, end);
    return { end, warnings: json.warnings, truncated: json.truncated };
  }

  it('layouts that never rest', () =>
    arena.withstand(async (attacker) => {
      for (const html of RESTLESS) {
        await reported(attacker, { html: `<!doctype html>${html}` });
      }
    }));

  it('100,000 elements beyond the paper, which are one warning, and say that not all were seen', () =>
    arena.withstand(async (attacker) => {
      const html = `<!doctype html><style>b { display: block; width: 4000px; height: 1px }</style>${'<b></b>'.repeat(100_000)}`;
      const { end, warnings, truncated } = await reported(attacker, { html });
      if (end === LAST_RESORT) return;
      const wide = warnings.filter((warning) => /wider than the paper: /.test(warning));
      // A page that responds too late is not inspected, which its report says by the same word.
      assert.ok(wide.length <= 1, wide.join('\n'));
      for (const warning of wide) assert.match(warning, /mm of it are cut off/);
      assert.ok(truncated.includes('observations'));
    }));

  it('10,000 lists that scroll, of which five are named and the others counted', () =>
    arena.withstand(async (attacker) => {
      const html = `<!doctype html><style>b { display: block; height: 5px; overflow: auto }</style>${'<b>x<br>y<br>z</b>'.repeat(10_000)}`;
      const { end, warnings, truncated } = await reported(attacker, { html });
      if (end === LAST_RESORT) return;
      const scrolls = warnings.filter((warning) => /scrolls, which paper does not/.test(warning));
      assert.ok(scrolls.length <= 6, `${scrolls.length} warnings`);
      assert.ok(truncated.includes('observations'));
    }));

  it('2,000 shadow trees, of which a hundred are looked into', () =>
    arena.withstand(async (attacker) => {
      const html = `<!doctype html><body><script>for (let i = 0; i < 2000; i++)
        document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' }).innerHTML = '<a href="#n">x</a>'</script>`;
      const { end, warnings, truncated } = await reported(attacker, { html });
      if (end === LAST_RESORT) return;
      assert.ok(warnings.length <= 6, warnings.join('\n'));
      assert.ok(truncated.includes('observations'));
    }));

  it('10,000 names that are not in the data, which are one warning with their number', () =>
    arena.withstand(async (attacker) => {
      const content = Array.from({ length: 10_000 }, (_, i) => `{{ name${i} }}`).join('');
      const { templateId } = await arena.service.saveTemplate(attacker, `<p>x</p>${content}`);
      const { end, warnings } = await reported(attacker, { templateId, data: {} });
      if (end === LAST_RESORT) return;
      assert.equal(warnings.length, 1, warnings.join('\n'));
      assert.match(warnings[0]!, /^10000 names of the template are not in the data/);
    }));

  it('base addresses in private networks, which are refused', () =>
    arena.withstand(async (attacker) => {
      for (const [baseUrl, expected] of [
        ['http://10.1.2.3/', 'URL_BLOCKED'],
        ['http://169.254.169.254/latest/', 'URL_BLOCKED'],
        ['http://[fd00::1]/', 'URL_BLOCKED'],
        ['ftp://10.1.2.3/', 'VALIDATION'],
        ['assets/', 'VALIDATION'],
      ] as const) {
        const { status, json } = await attacker.client.render({
          html: '<img src="a.png">',
          options: { baseUrl },
        });
        assert.deepEqual([status, json.code], [400, expected], baseUrl);
      }
    }));
});
