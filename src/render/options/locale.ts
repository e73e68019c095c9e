import { z } from 'zod';
import { IDENTITY } from './core/identity.ts';
import { defineOption, type PageSetting } from './core/option.ts';
import { holds } from './core/text-checks.ts';
import { userAgent } from './userAgent.ts';

const LOCALE: PageSetting<string> = {
  name: 'locale',
  initial: '',
  until: 'printed',
  send: (session, locale) => session.send('Emulation.setLocaleOverride', locale === '' ? {} : { locale }),
};

/** The canonical form of a language tag; undefined for other texts, and for a tag of no language, which Chromium rejects. */
function canonical(text: string): string | undefined {
  try {
    const [tag] = Intl.getCanonicalLocales(text);
    return /^und(?:-|$)/.test(tag ?? '') ? undefined : tag;
  } catch {
    return undefined;
  }
}

export const locale = defineOption(
  'locale',
  z
    .string()
    .max(64)
    .check(holds((text) => canonical(text) !== undefined, 'must be a language tag of BCP 47, such as de-DE')),
  {
    stage: 'page',
    documentation:
      "Language of the document's scripts and requests (Intl, navigator.language, Accept-Language), and of the date in headers and footers, such as de-DE. Default: that of the service (PLATEN_LOCALE), en-US unless it has been set.",
    // After `userAgent`, since one setting contains both values.
    order: 1,
    page: (value, given) => {
      const language = canonical(value) ?? '';
      return [
        { setting: LOCALE, value: language },
        { setting: IDENTITY, value: { userAgent: given(userAgent) ?? '', language } },
      ];
    },
    load: (value) => ({ language: value }),
  },
);
