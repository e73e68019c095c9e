import { needsTags } from '../../pdf/conformance/target.ts';
import type { Conformance } from '../conformance.ts';
import type { RenderOptions } from './render-options.ts';

/** Whether a render has a report: it was asked for, or a list of faults that only a report has. */
export function wantsReport({ report, conformance }: RenderOptions): boolean {
  return report === true || conformance?.onFault === 'report';
}

/** The options of a render with those that its conformance implies, and the conformance that its e-invoice does. */
export function withImplied(options: RenderOptions): RenderOptions {
  const conformance = conformanceOf(options);
  if (conformance === undefined) return options;
  return {
    ...options,
    conformance,
    ...(needsTags(conformance) && { tagged: true, outline: options.outline ?? true }),
    ...(wantsReport(options) && { report: true }),
  };
}

/** An e-invoice is PDF/A-3, of the lowest level unless another one is asked for. */
function conformanceOf({ conformance, einvoice }: RenderOptions): Conformance | undefined {
  return einvoice === undefined ? conformance : { pdfa: '3b', ...conformance };
}
