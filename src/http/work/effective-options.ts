import { PlatenError } from '../../infra/errors/registry.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import { brokenRules, withSaved } from '../../render/options/all/saved-options.ts';
import { testWatermark } from '../../render/options/watermark.ts';
import type { KeyMode } from '../../tenants/keys/secret.ts';
import type { IntakeContext } from '../../work/inputs/input-kind.ts';
import type { RenderRequest } from './render-request-schema.ts';

/** Bytes of different options that items of one batch have from templates: each is held and stored in full. */
const MAX_BATCH_BYTES = 32 * 1024 * 1024;

/** The fields of a request that are options, or stand beside them. */
type GivenOptions = Pick<RenderRequest, 'options' | 'report' | 'strictData'>;

interface OptionsContext {
  readonly mode: KeyMode;
  /** Whether there is a report unless the request or the template says otherwise. */
  readonly reports?: boolean;
  readonly checkUrl?: IntakeContext['checkUrl'];
}

/**
 * The options of a render: those of its request, with those that stand beside them, then those that are saved with its
 * template, a report for whoever tries something, and the watermark of a test key.
 *
 * @param saved undefined for a render without a template, and for a template without options.
 * @param path of the options in the body, for errors.
 * @throws PlatenError VALIDATION for options of the request that do not go with saved ones; the error of `checkUrl` for
 * `baseUrl`.
 */
export function optionsFor(
  { options, report, strictData }: GivenOptions,
  saved: RenderOptions | undefined,
  { mode, checkUrl, reports = false }: OptionsContext,
  path = 'options',
): RenderOptions {
  const requested = {
    ...options,
    ...(report !== undefined && { report }),
    ...(strictData !== undefined && { strictData }),
  };
  const all = { ...(reports && { report: true }), ...effectiveOptions(requested, saved, path) };
  if (all.baseUrl !== undefined) checkUrl?.(all.baseUrl, `${path}.baseUrl`);
  return mode === 'test' ? { ...all, watermark: testWatermark(all.watermark) } : all;
}

/** Makes the options of one item of a batch, as `optionsFor` does; throws INPUT_TOO_LARGE as well. */
type ItemOptions = (item: GivenOptions, saved: RenderOptions | undefined, path: string) => RenderOptions;

/**
 * Makes the options of the items of one batch. Items that ask for the same with the same saved options get one object,
 * which is held and stored once (`shareChunks`).
 */
export function itemOptions(context: OptionsContext): ItemOptions {
  const made = new Map<RenderOptions, Map<string, RenderOptions>>();
  let bytes = 0;
  return (item, saved, path) => {
    if (saved === undefined) return optionsFor(item, saved, context, path);
    const bySaved = made.get(saved) ?? new Map<string, RenderOptions>();
    made.set(saved, bySaved);
    const key = JSON.stringify([item.options, item.report, item.strictData]);
    const found = bySaved.get(key);
    if (found !== undefined) return found;
    const options = optionsFor(item, saved, context, path);
    bytes += Buffer.byteLength(JSON.stringify(options));
    if (bytes > MAX_BATCH_BYTES) {
      const advice = 'leave out what differs between its items, or save less with the template';
      throw new PlatenError(
        'INPUT_TOO_LARGE',
        `${path}: the options of this batch and of its templates are too large together: ${advice}.`,
      );
    }
    bySaved.set(key, options);
    return options;
  };
}

/** The options of a request, before those saved with its template. @throws PlatenError VALIDATION when they clash. */
export function effectiveOptions(
  requested: RenderOptions,
  saved: RenderOptions | undefined,
  path = 'options',
): RenderOptions {
  if (saved === undefined) return requested;
  const options = withSaved(requested, saved);
  const errors = brokenRules(options).map((error) => `${path}.${error} (some are saved with the template)`);
  if (errors.length > 0) throw new PlatenError('VALIDATION', errors[0], { details: errors });
  return options;
}
