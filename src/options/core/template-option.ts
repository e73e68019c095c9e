import { displayHeaderFooter } from '../displayHeaderFooter.ts';
import { defineOption } from './option.ts';
import { documentSchema } from './text-schemas.ts';

/** If a template is empty, Chromium prints a header or footer of its own. */
const NOTHING = '<span></span>';

/** A template in the form that is sent to Chromium. */
export const shownTemplate = (template: string | undefined): string => template || NOTHING;

/** An option for the upper or lower margin of each page. */
export function templateOption(name: 'headerTemplate' | 'footerTemplate', documentation: string) {
  return defineOption(name, documentSchema({ max: 5000 }), {
    stage: 'print',
    documentation,
    default: '',
    print: (value, given) => (given(displayHeaderFooter) ? { [name]: shownTemplate(value) } : {}),
  });
}
