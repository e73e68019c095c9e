import type { OptionRule, RenderNeeds } from './option.ts';

/**
 * The needs of a render whose options run script: the text of the document does not show the effects of that script.
 */
export const SCRIPT_RUNS: RenderNeeds = { navigation: true, script: true };

/** The rule of an option that needs script to run in the document. */
export function needsScript(name: string): OptionRule {
  return {
    error: 'needs script: leave javascriptEnabled out, or give {"javascriptEnabled": true}',
    holds: (options) => options[name] === undefined || options.javascriptEnabled !== false,
  };
}
