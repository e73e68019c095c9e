import { marginTemplate } from './core/margin-templates.ts';

export const lastFooterTemplate = marginTemplate(
  'lastFooterTemplate',
  'HTML that replaces footerTemplate on the last page, with displayHeaderFooter. An empty text prints no footer there.',
);
