import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const outline = defineOption('outline', z.boolean(), {
  stage: 'print',
  documentation: 'Write bookmarks for the headings h1 to h6; the PDF is tagged then.',
  default: false,
  // After `tagged`, since Chromium finds headings by the tags.
  order: 1,
  rules: [
    {
      error: 'needs tags: leave tagged out, or give {"outline": true, "tagged": true}',
      holds: ({ outline: wanted, tagged }) => wanted !== true || tagged !== false,
    },
  ],
  print: (value) => (value ? { generateDocumentOutline: true, generateTaggedPDF: true } : {}),
});
