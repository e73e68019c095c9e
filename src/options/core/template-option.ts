import { z } from 'zod';
import { displayHeaderFooter } from '../displayHeaderFooter.ts';
import { defineOption } from './option.ts';

/** Chromium puts a header and footer of its own where the template is empty. */
const NOTHING = '<span></span>';

/** A template in the form that Chromium gets. */
export const shownTemplate = (template: string | undefined): string => template || NOTHING;

/** What is printed in the upper or lower margin of each page. */
export function templateOption(name: 'headerTemplate' | 'footerTemplate', documentation: string) {
  return defineOption(name, z.string().max(5000), {
    stage: 'print',
    documentation,
    default: '',
    print: (value, given) => (given(displayHeaderFooter) ? { [name]: shownTemplate(value) } : {}),
  });
}
