import { marginTemplate } from './core/margin-templates.ts';

export const firstHeaderTemplate = marginTemplate(
  'firstHeaderTemplate',
  'HTML that replaces headerTemplate on the first page, with displayHeaderFooter. An empty text prints no header there.',
);
