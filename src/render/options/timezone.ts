import { z } from 'zod';
import { defineOption, type PageSetting } from './core/option.ts';
import { holds } from './core/text-checks.ts';

const TIMEZONE: PageSetting<string> = {
  name: 'time zone',
  initial: '',
  until: 'printed',
  send: (session, timezoneId) => session.send('Emulation.setTimezoneOverride', { timezoneId }),
};

/**
 * The spelling of a time zone that Chromium accepts. Intl ignores upper and lower case, and accepts offsets; Chromium
 * rejects both, and silently accepts some names that do not exist.
 *
 * @returns undefined for a text that is no time zone.
 */
function canonical(text: string): string | undefined {
  if (!/^[A-Za-z]/.test(text)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

export const timezone = defineOption(
  'timezone',
  z
    .string()
    .max(64)
    .check(
      holds(
        (text) => canonical(text) !== undefined,
        'must be a time zone of the IANA database, such as Europe/Berlin',
      ),
    ),
  {
    stage: 'page',
    documentation:
      "Time zone of the document's scripts and of dates in templates, such as Europe/Berlin, in upper or lower case. Default UTC.",
    page: (value) => [{ setting: TIMEZONE, value: canonical(value) ?? value }],
  },
);
