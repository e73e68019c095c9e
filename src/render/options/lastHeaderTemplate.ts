import { marginTemplate } from './core/margin-templates.ts';

export const lastHeaderTemplate = marginTemplate(
  'lastHeaderTemplate',
  'HTML that the last page has in place of headerTemplate, with displayHeaderFooter; an empty text prints none.',
);
