import { templateOption } from './core/template-option.ts';

export const headerTemplate = templateOption(
  'headerTemplate',
  'HTML that is printed in the top margin of each page. Elements with the classes date, title, url, pageNumber and totalPages ' +
    'are filled in. With templateId it is a template as well, with the same data. It may refer to pictures, style sheets and fonts.',
);
