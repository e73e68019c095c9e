import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { holds } from './core/text-checks.ts';

/** The scheme, the host and the port of a text that has nothing else, as a URL parser writes them. */
function originOf(text: string): string | undefined {
  return /^https?:\/\/[^/?#@*\\\s]+\/?$/i.test(text) ? URL.parse(text)?.origin : undefined;
}

/** Has no effect by itself: `assetHeaders` uses its value. */
export const assetOrigins = defineOption(
  'assetOrigins',
  shortList(
    z
      .string()
      .max(300)
      .check(
        holds(
          (text) => originOf(text) !== undefined,
          'must be an origin such as https://assets.example or http://assets.example:8080',
        ),
      )
      .overwrite((text) => originOf(text) ?? text),
    20,
  ),
  {
    stage: 'load',
    documentation: 'The origins that assetHeaders are sent to, instead of those that Platen finds.',
  },
);
