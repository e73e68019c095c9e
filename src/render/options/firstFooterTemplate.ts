import { marginTemplate } from './core/margin-templates.ts';

export const firstFooterTemplate = marginTemplate(
  'firstFooterTemplate',
  'HTML that replaces footerTemplate on the first page, with displayHeaderFooter. An empty text prints no footer there.',
);
