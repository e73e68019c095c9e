import { displayHeaderFooter } from '../displayHeaderFooter.ts';
import { printMargins } from './margin-templates.ts';
import type { Given, Option, PrintSettings } from './option.ts';

/** The settings for a PDF with tags. Chromium prints headers and footers outside of all tags, so not together with it. */
export function taggedPrint(given: Given): PrintSettings {
  return { generateTaggedPDF: true, ...(given(displayHeaderFooter) && { displayHeaderFooter: false }) };
}

/** The hooks of an option that writes tags: headers and footers are printed by themselves, and drawn as artefacts. */
export const TAGGED = {
  // The style sheet that hides the document stays in its window.
  needs: (value, _kind, given) => ({ navigation: value && given(displayHeaderFooter) === true }),
  afterPrint: printMargins,
} satisfies Partial<Option<boolean>>;
