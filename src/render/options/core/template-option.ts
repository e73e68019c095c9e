import { displayHeaderFooter } from '../displayHeaderFooter.ts';
import { printBackground } from '../printBackground.ts';
import { defineOption, type Given } from './option.ts';
import { withDate } from './template-date.ts';
import { documentSchema } from './text-schemas.ts';

/** If a template is empty, Chromium prints a header or footer of its own. */
const NOTHING = '<span></span>';

/** Chromium prints headers and footers as if ink were to be saved, whatever the setting for backgrounds is. */
const COLOURS = '<style>body { print-color-adjust: exact }</style>';

/** A template in the form that is sent to Chromium. */
export function shownTemplate(template: string | undefined, given: Given): string {
  if (!template) return NOTHING;
  const dated = withDate(template, given);
  return given(printBackground) ? dated + COLOURS : dated;
}

/** An option for the upper or lower margin of each page. */
export function templateOption(name: 'headerTemplate' | 'footerTemplate', documentation: string) {
  return defineOption(name, documentSchema({ max: 5000 }), {
    stage: 'print',
    documentation,
    default: '',
    print: (value, given) => (given(displayHeaderFooter) ? { [name]: shownTemplate(value, given) } : {}),
  });
}
