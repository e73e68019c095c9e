import { needsTags } from '../../pdf/conformance/target.ts';
import type { RenderOptions } from './render-options.ts';

/** The options of a render with those that others imply. */
export function withImplied(options: RenderOptions): RenderOptions {
  const { conformance } = options;
  if (conformance === undefined) return options;
  return {
    ...options,
    ...(needsTags(conformance) && { tagged: true, outline: options.outline ?? true }),
    ...(conformance.onFault === 'report' && { report: true }),
  };
}
