import { marginTemplate } from './core/margin-templates.ts';

export const lastFooterTemplate = marginTemplate(
  'lastFooterTemplate',
  'HTML that the last page has in place of footerTemplate, with displayHeaderFooter; an empty text prints none.',
);
