import { templateOption } from './core/template-option.ts';

export const footerTemplate = templateOption(
  'footerTemplate',
  'HTML that is printed in the bottom margin of each page. It may use the same classes as headerTemplate, such as pageNumber.',
);
