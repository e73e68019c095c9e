import { templateOption } from './core/template-option.ts';

export const footerTemplate = templateOption(
  'footerTemplate',
  'HTML that is printed in the lower margin of each page, with the classes of headerTemplate.',
);
