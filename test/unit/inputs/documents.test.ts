import assert from 'node:assert/strict';
import type { DocumentContext } from '../../../src/work/inputs/input-kind.ts';
import { INPUTS } from '../../../src/work/inputs/inputs.ts';

/** A worker with this long until the deadline, and the calls of its template engine. */
function worker(withinMs: number) {
  const calls: Parameters<DocumentContext['templates']['render']>[] = [];
  const { signal } = new AbortController();
  const context: DocumentContext = {
    account: 'account',
    templates: {
      async render(...call) {
        calls.push(call);
        return '<p>Ada</p>';
      },
    },
    options: { locale: 'de-DE', timezone: 'Europe/Berlin', strictData: true },
    withinMs,
    pdfOf: async (jobId) => (jobId === 'kept' ? Buffer.from('%PDF-') : undefined),
    signal,
  };
  return { calls, context, signal };
}

describe('The document of a source', () => {
  it('is HTML or an address as it is', async () => {
    const { calls, context } = worker(1000);
    assert.deepEqual(await INPUTS.html.documentOf({ mode: 'html', html: '<p>' }, context), {
      kind: 'html',
      html: '<p>',
    });
    assert.deepEqual(await INPUTS.url.documentOf({ mode: 'url', url: 'https://example.com/' }, context), {
      kind: 'url',
      url: 'https://example.com/',
    });
    assert.deepEqual(calls, []);
  });

  it('is the PDF that was sent, or that of another job while that is kept', async () => {
    const { context } = worker(1000);
    const source = (fields: object) =>
      ({ mode: 'pdf', ...fields }) as { mode: 'pdf'; pdf: string; pdfJobId: string };
    const sent = await INPUTS.pdf.documentOf(source({ pdf: 'JVBERi0=' }), context);
    const ofJob = await INPUTS.pdf.documentOf(source({ pdfJobId: 'kept' }), context);
    for (const document of [sent, ofJob])
      assert.deepEqual(document, { kind: 'pdf', pdf: Buffer.from('%PDF-') });
    await assert.rejects(async () => INPUTS.pdf.documentOf(source({ pdfJobId: 'gone' }), context), {
      code: 'GONE',
    });
  });

  it('is the template filled in with its data, within its own limit of time and that of the render', async () => {
    const content = '<p>{{ name }}</p>';
    const data = { name: 'Ada' };
    for (const [withinMs, timeoutMs] of [
      [3000, 3000],
      [60_000, 10_000],
    ] as const) {
      const { calls, context, signal } = worker(withinMs);
      const source = { mode: 'template', templateId: 't', templateVersionId: 'v', content, data } as const;
      assert.deepEqual(await INPUTS.template.documentOf(source, context), {
        kind: 'html',
        html: '<p>Ada</p>',
        template: content,
      });
      const terms = { locale: 'de-DE', timezone: 'Europe/Berlin', strictData: true };
      const limits = { timeoutMs, maxOutputBytes: 32 * 1024 * 1024 };
      assert.deepEqual(calls, [[content, data, limits, { account: 'account', withinMs, signal, ...terms }]]);
    }
  });

  it('fills in the headers and footers of a template with the same data, and no other text of the options', async () => {
    const { calls, context } = worker(3000);
    const source = {
      mode: 'template',
      templateId: 't',
      templateVersionId: 'v',
      content: '',
      data: { name: 'Ada' },
    } as const;
    const options = {
      styles: ['{{ name }}'],
      headerTemplate: '<i>{{ name }}</i>',
      footerTemplate: '<i>none</i>',
      lastFooterTemplate: '{% comment %}',
    };
    assert.deepEqual(await INPUTS.template.optionsOf!(source, options, context), {
      ...options,
      headerTemplate: '<p>Ada</p>',
      lastFooterTemplate: '<p>Ada</p>',
    });
    assert.deepEqual(
      calls.map(([text, , limits]) => [text, limits]),
      [options.headerTemplate, options.lastFooterTemplate].map((text) => [
        text,
        { timeoutMs: 3000, maxOutputBytes: 64 * 1024 },
      ]),
    );
  });
});
