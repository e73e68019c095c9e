import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { matches } from './core/text-checks.ts';

/** By kind of request: the resource types of Chromium's Fetch.enable. */
const KINDS = {
  stylesheet: ['Stylesheet'],
  image: ['Image'],
  font: ['Font'],
  media: ['Media'],
  script: ['Script'],
  frame: ['Document'],
  fetch: ['XHR', 'Fetch', 'EventSource'],
  other: ['Ping', 'CSPViolationReport', 'Other'],
} as const;
const NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];

export const blockRequests = defineOption(
  'blockRequests',
  z
    .strictObject({
      urls: shortList(
        z
          .string()
          .min(1)
          .max(255)
          .check(
            matches(/^[!-~]+$/, 'must be an address with * for any characters, such as *://ads.example/*'),
          ),
        50,
      ).describe('Patterns of addresses; * stands for any characters.'),
      kinds: shortList(z.enum(NAMES), NAMES.length).describe(`Kinds of requests: ${NAMES.join(', ')}.`),
    })
    .partial(),
  {
    stage: 'load',
    documentation:
      'Requests that the document may not make: by patterns of addresses (urls), in which * stands for any characters, and by ' +
      `kinds (${NAMES.join(', ')}). The document itself, requests of workers, and web sockets are not blocked.`,
    needs: ({ urls = [], kinds = [] }) =>
      urls.length + kinds.length === 0 ? {} : { navigation: true, dedicatedBrowser: true },
    load: ({ urls = [], kinds = [] }) =>
      urls.length + kinds.length === 0
        ? {}
        : { blocked: { urls, kinds: kinds.flatMap((kind) => KINDS[kind]) } },
  },
);
