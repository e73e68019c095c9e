import type { FinishStep } from '../../pdf/finish-step.ts';
import {
  type FinishStage,
  type LoadSettings,
  type Option,
  type OptionSetting,
  type PrintSettings,
  type PrintStage,
  type RenderNeeds,
  STAGES,
  type WaitStage,
} from '../core/option.ts';
import { ALL_OPTIONS, given, type RenderOptions } from './render-options.ts';

type PrintHook = (stage: PrintStage) => Promise<void>;

/** All options, in the order in which they act. */
export const IN_ORDER: readonly Option[] = ALL_OPTIONS.toSorted(
  (one, other) =>
    STAGES.indexOf(one.stage) - STAGES.indexOf(other.stage) || (one.order ?? 0) - (other.order ?? 0),
);

type Present = readonly (readonly [option: Option, value: unknown])[];

/** Of the options of renders under way, which do not change: each render asks a dozen times. */
const found = new WeakMap<RenderOptions, Present>();

/** The given options with their values, in the order in which they act. */
function present(options: RenderOptions): Present {
  const known = found.get(options);
  if (known !== undefined) return known;
  const values: Readonly<Record<string, unknown>> = options;
  const resolved = IN_ORDER.flatMap((option): [Option, unknown][] =>
    values[option.name] === undefined ? [] : [[option, values[option.name]]],
  );
  found.set(options, resolved);
  return resolved;
}

const LOADED = IN_ORDER.filter(({ load }) => load !== undefined);
const PRINTED = IN_ORDER.filter(({ print }) => print !== undefined);

/** The needs of a render with the given options. */
export function needsOf(options: RenderOptions, kind: 'html' | 'url'): RenderNeeds {
  const needs: { -readonly [Need in keyof RenderNeeds]: boolean } = {};
  for (const [option, value] of present(options)) {
    for (const [need, needed] of Object.entries(option.needs?.(value, kind, given(options)) ?? {})) {
      if (needed) needs[need as keyof RenderNeeds] = true;
    }
  }
  return needs;
}

/** Milliseconds that the options add to the default deadline of a render. */
export function addedMs(options: RenderOptions): number {
  return present(options).reduce((sum, [option, value]) => sum + (option.takesMs?.(value) ?? 0), 0);
}

export function loadSettings(options: RenderOptions): LoadSettings {
  const settings: LoadSettings = { scriptEnabled: true, milestone: 'load' };
  for (const option of LOADED) {
    const value = given(options)(option);
    if (value !== undefined) Object.assign(settings, option.load?.(value, given(options)));
  }
  return settings;
}

/** Settings of the page while the document is in it. */
export function pageSettings(options: RenderOptions): OptionSetting[] {
  return present(options).flatMap(([option, value]) =>
    (option.page?.(value, given(options)) ?? []).map((wanted) => ({ ...wanted, option: option.name })),
  );
}

/**
 * Hooks that change the document once it has been loaded (`insert`), or that wait after that (`wait`), in their order.
 */
export function waitHooks(
  options: RenderOptions,
  what: 'insert' | 'wait',
): { readonly name: string; run(stage: WaitStage): Promise<void> }[] {
  return present(options).flatMap(([option, value]) => {
    const hook = option[what];
    if (hook === undefined || value === option.default) return [];
    return [{ name: option.name, run: (stage: WaitStage) => hook(value, stage) }];
  });
}

export function printSettings(options: RenderOptions): PrintSettings {
  const settings: PrintSettings = { generateDocumentOutline: false };
  for (const option of PRINTED) {
    const value = given(options)(option);
    if (value !== undefined) Object.assign(settings, option.print?.(value, given(options)));
  }
  return settings;
}

/** Hooks that run before or after the document is printed, in their order. */
export function printHooks(options: RenderOptions, when: 'beforePrint' | 'afterPrint'): PrintHook[] {
  const seen = new Set<unknown>();
  return present(options).flatMap(([option, value]) => {
    const hook = option[when];
    if (hook === undefined || value === option.default || seen.has(hook)) return [];
    seen.add(hook);
    return [(stage: PrintStage) => hook(value, stage)];
  });
}

/** The steps of the finisher, in their order; none if the PDF stays as printed. */
export async function finishSteps(
  options: RenderOptions,
  stage: Omit<FinishStage, 'given'>,
): Promise<FinishStep[]> {
  const steps: FinishStep[] = [];
  for (const [option, value] of present(options)) {
    const step = await option.finish?.(value, { ...stage, given: given(options) });
    if (step !== undefined) steps.push(step);
  }
  return steps;
}
