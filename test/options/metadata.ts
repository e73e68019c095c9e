import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const ALL = {
  title: 'Rëport',
  author: 'Ada',
  subject: 'Sums',
  creator: 'Shop',
  producer: 'Us',
  keywords: ['k1', 'k2'],
};

export const cases: OptionCases = {
  accepted: [{}, { title: 'x'.repeat(255), keywords: Array(20).fill('x'.repeat(255)) }],
  refused: [
    [{ metadata: { title: 'x'.repeat(256) } }, 'metadata.title', /at most 255 characters/],
    [{ metadata: { keywords: Array(21).fill('x') } }, 'metadata.keywords', /at most 20 items/],
    [{ metadata: { keywords: ['x'.repeat(256)] } }, 'metadata.keywords[0]', /at most 255 characters/],
    [{ metadata: { title: 'a\nb' } }, 'metadata.title', /must be one line of text without U\+000A/],
    [{ metadata: { keywords: ['\u202e'] } }, 'metadata.keywords[0]', /without U\+202E/],
    [{ metadata: { subject: '\ud800' } }, 'metadata.subject', /without U\+D800/],
    [{ metadata: { date: '2026' } }, 'metadata.date', /is not known/],
  ],
  effects: [
    {
      title: 'all fields are in the PDF, and the title is not that of the document',
      html: '<title>Other</title><p>x',
      options: { metadata: ALL },
      others: { tagged: true, delayMs: 20, landscape: true },
      proof: ({ metadata }) => assert.deepEqual(metadata, ALL),
    },
  ],
};
