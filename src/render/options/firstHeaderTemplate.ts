import { marginTemplate } from './core/margin-templates.ts';

export const firstHeaderTemplate = marginTemplate(
  'firstHeaderTemplate',
  'HTML that the first page has in place of headerTemplate, with displayHeaderFooter; an empty text prints none.',
);
