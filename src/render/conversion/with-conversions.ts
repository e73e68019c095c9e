import { PlatenError, toPlatenError } from '../../infra/errors/registry.ts';
import { PDF } from '../../infra/outputs/media-type.ts';
import { secretsOf } from '../options/all/secrets.ts';
import type { PdfFinisher } from '../pdf/finish.ts';
import type { JobRenderer, PdfSource, Renderer, RenderRequest, RenderResult } from '../renderer.ts';
import { Findings } from '../report/findings.ts';
import type { RenderReport } from '../report/phases.ts';
import { conversionOf } from './conversion-options.ts';

/** A renderer that converts PDFs as well: by the finisher alone, whose processes may be killed, and without a browser. */
export function withConversions(renderer: Renderer, finisher: Pick<PdfFinisher, 'convert'>): JobRenderer {
  return {
    async render(request) {
      const { source, ...rest } = request;
      return source.kind === 'pdf'
        ? await convertPdf({ ...rest, source }, finisher)
        : await renderer.render({ ...rest, source });
    },
    health: () => renderer.health(),
    close: () => renderer.close(),
  };
}

/** @throws PlatenError as `PdfFinisher.convert`; CANCELLED. */
async function convertPdf(
  {
    source,
    options,
    accountId,
    deadline,
    maxOutputBytes,
    signal,
    warnings = [],
    onFailed,
  }: RenderRequest<PdfSource>,
  finisher: Pick<PdfFinisher, 'convert'>,
): Promise<RenderResult> {
  const began = performance.now();
  const report = (): RenderReport => ({
    phases: { page: 0, load: 0, wait: 0, print: 0, finish: performance.now() - began },
  });
  const findings = options.report ? new Findings(secretsOf(options)) : undefined;
  if (findings) findings.sourceWarnings = warnings;
  try {
    const { steps, pdfa } = await conversionOf(options);
    const timeoutMs = Math.max(1, deadline - Date.now());
    const converted = await finisher.convert(source.pdf, {
      steps,
      pdfa,
      maxBytes: maxOutputBytes,
      account: accountId,
      timeoutMs,
      signal,
    });
    const { pdf: bytes, pages, repairs } = converted;
    const made = report();
    if (findings) {
      const sourceWarnings = [...warnings, ...repairs];
      Object.assign(findings, { phases: made.phases, pages, size: bytes.byteLength, sourceWarnings });
    }
    return { bytes, mediaType: PDF, pages, report: made, findings };
  } catch (thrown) {
    onFailed?.(report(), findings);
    throw signal.aborted
      ? new PlatenError('CANCELLED', undefined, { cause: thrown })
      : toPlatenError(thrown, 'RENDER_FAILED');
  }
}
