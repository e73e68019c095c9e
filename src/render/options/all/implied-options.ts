import { needsTags } from '../../pdf/conformance/target.ts';
import type { Conformance } from '../conformance.ts';
import type { RenderOptions } from './render-options.ts';

/** Whether a render has a report: it was asked for, or a list of faults that only a report has. */
export function wantsReport({ report, conformance }: RenderOptions): boolean {
  return report === true || conformance?.onFault === 'report';
}

/** The options of a render with those that its conformance implies. */
export function withImplied(options: RenderOptions, conformance: Conformance): RenderOptions {
  return {
    ...options,
    ...(needsTags(conformance) && { tagged: true, outline: options.outline ?? true }),
    ...(wantsReport(options) && { report: true }),
  };
}
