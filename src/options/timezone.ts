import { z } from 'zod';
import { defineOption, type PageSetting } from './core/option.ts';
import { holds } from './core/text-checks.ts';

const TIMEZONE: PageSetting<string> = {
  name: 'time zone',
  initial: '',
  until: 'printed',
  send: (session, timezoneId) => session.send('Emulation.setTimezoneOverride', { timezoneId }),
};

/** Chromium silently accepts some names that do not exist, and rejects offsets, which Intl accepts. */
function isTimezone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

export const timezone = defineOption(
  'timezone',
  z
    .string()
    .max(64)
    .check(holds(isTimezone, 'must be a time zone of the IANA database, such as Europe/Berlin')),
  {
    stage: 'page',
    documentation:
      "Time zone of the document's scripts, such as Europe/Berlin. Default UTC, as the service has it.",
    page: (value) => [{ setting: TIMEZONE, value }],
  },
);
