import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { holds } from './core/text-checks.ts';
import { onOneLine } from './core/text-schemas.ts';

/** Longer ones are no address of a folder. Characters. */
const MAX_LENGTH = 2048;

const parsed = (text: string) => URL.parse(text);

/** What the address leads to is checked against the policy by the route, and by the egress proxy. */
export const baseUrl = defineOption(
  'baseUrl',
  z
    .string()
    .max(MAX_LENGTH)
    .check(
      holds((text) => !/[\s\p{Cc}]/u.test(text), 'must not hold spaces, line breaks or control characters'),
      onOneLine(),
      holds((text) => parsed(text) !== null, 'must be an absolute address, such as https://assets.example/'),
      holds((text) => /^https?:$/.test(parsed(text)!.protocol), 'must be an http or https address'),
      holds(
        (text) => parsed(text)!.username + parsed(text)!.password === '',
        'must not hold a user name or password; send them in assetHeaders',
      ),
    ),
  {
    stage: 'load',
    documentation:
      'The address that relative addresses in HTML and templates start from, those of assets as well as of links, such as ' +
      'https://assets.example/invoices/. If the document has a `<base href>`, that is used instead. A source URL has an ' +
      'address of its own, and takes no baseUrl.',
    load: (value) => ({ baseUrl: value }),
  },
);
