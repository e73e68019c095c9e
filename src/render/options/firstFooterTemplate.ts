import { marginTemplate } from './core/margin-templates.ts';

export const firstFooterTemplate = marginTemplate(
  'firstFooterTemplate',
  'HTML that the first page has in place of footerTemplate, with displayHeaderFooter; an empty text prints none.',
);
