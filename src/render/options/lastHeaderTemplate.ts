import { marginTemplate } from './core/margin-templates.ts';

export const lastHeaderTemplate = marginTemplate(
  'lastHeaderTemplate',
  'HTML that replaces headerTemplate on the last page, with displayHeaderFooter. An empty text prints no header there.',
);
