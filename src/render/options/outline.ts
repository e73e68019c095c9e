import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { TAGGED, taggedPrint } from './core/tagged-print.ts';

export const outline = defineOption('outline', z.boolean(), {
  stage: 'print',
  documentation: 'Write bookmarks for the headings h1 to h6. The PDF is then tagged as well.',
  default: false,
  ...TAGGED,
  // After `tagged`, since Chromium finds headings by the tags.
  order: 5,
  rules: [
    {
      error: 'needs tags: leave tagged out, or give {"outline": true, "tagged": true}',
      holds: ({ outline: wanted, tagged }) => wanted !== true || tagged !== false,
    },
  ],
  print: (value, given) => (value ? { generateDocumentOutline: true, ...taggedPrint(given) } : {}),
});
