import assert from 'node:assert/strict';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import type { Findings } from '../../../src/render/report/findings.ts';
import { eventually } from '../../support/eventually.ts';
import { failure, inDrawnFrames, render, rendererProcesses, useBench } from './support.ts';

const DOCUMENT = '<style>body { background: gold } h1 { color: navy }</style><h1>Invoice</h1>';

describe('the picture of a render that fails', () => {
  const bench = useBench();

  async function picture(html: string, options: RenderOptions = {}): Promise<string | undefined> {
    let found: Findings | undefined;
    const onFailed = (_: unknown, findings?: Findings) => {
      found = findings;
    };
    const failing = { ...options, report: true, waitForSelector: '#none' };
    await failure(render(bench, html, failing, { onFailed, timeoutMs: 2000 }));
    return found?.picture?.data;
  }

  for (const [name, options] of Object.entries<RenderOptions>({
    'as it is': {},
    'in print media and a window of its own': { mediaType: 'print', viewport: { width: 500, height: 400 } },
  })) {
    it(`is of a document without frames the same as of one with frames, ${name}`, async () => {
      const shown = await picture(DOCUMENT, options);
      assert.ok(shown !== undefined);
      assert.ok(shown === (await picture(inDrawnFrames(DOCUMENT), options)), 'they look the same');
      assert.ok(
        shown !== (await picture(DOCUMENT.replace('gold', 'teal'), options)),
        'another looks different',
      );
    });
  }

  it('leaves no page open', async () => {
    await picture(DOCUMENT);
    const before = rendererProcesses().length;
    for (let i = 0; i < 3; i++) await picture(DOCUMENT);
    await eventually('no more processes than before', () => rendererProcesses().length <= before);
  });
});
