import { readFile } from 'node:fs/promises';
import { withConversions } from '../../src/render/conversion/with-conversions.ts';
import type { RenderOptions } from '../../src/render/options/all/render-options.ts';
import type { PdfFinisher } from '../../src/render/pdf/finish.ts';
import type { RenderResult } from '../../src/render/renderer.ts';
import { HUNG_MS } from './eventually.ts';

/** PDFs of other producers; `test/fixtures/README.md` says how they were made. */
export function sentFixture(name: string): Promise<Buffer> {
  return readFile(new URL(`../fixtures/sent/${name}.pdf`, import.meta.url));
}

/** Converts a PDF as a worker does, which has no browser here. */
export async function converted(
  finisher: PdfFinisher,
  pdf: Uint8Array,
  options: RenderOptions,
): Promise<RenderResult> {
  const noBrowser = (): never => {
    throw new Error('A conversion needs no browser.');
  };
  const renderer = withConversions({ render: noBrowser, health: noBrowser, close: noBrowser }, finisher);
  return await renderer.render({
    jobId: 'job',
    accountId: 'account',
    source: { kind: 'pdf', pdf },
    options,
    deadline: Date.now() + HUNG_MS,
    maxOutputBytes: 50_000_000,
    signal: new AbortController().signal,
  });
}
