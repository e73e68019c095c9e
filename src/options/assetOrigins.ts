import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { holds } from './core/text-checks.ts';

/** Whether a text is a scheme, a host and optionally a port, and nothing else. */
function isOrigin(text: string): boolean {
  const url = /^https?:\/\/[^/?#@*\\\s]+\/?$/i.test(text) ? URL.parse(text) : null;
  return url !== null;
}

/** Has no effect by itself: `assetHeaders` uses its value. */
export const assetOrigins = defineOption(
  'assetOrigins',
  shortList(
    z
      .string()
      .max(300)
      .check(
        holds(isOrigin, 'must be an origin such as https://assets.example or http://assets.example:8080'),
      ),
    20,
  ),
  {
    stage: 'load',
    documentation: 'The origins that assetHeaders are sent to, in place of those that are found.',
  },
);
