import { templateOption } from './core/template-option.ts';

export const headerTemplate = templateOption(
  'headerTemplate',
  'HTML that is printed in the upper margin of each page; elements of the classes date, title, url, pageNumber and totalPages are filled in. ' +
    'With templateId it is a template as well, filled in with the same data. Pictures, style sheets and fonts may be referred to.',
);
