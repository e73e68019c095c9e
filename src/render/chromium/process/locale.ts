/** The language of documents where none is given. BCP 47. */
export const DEFAULT_LOCALE = 'en-US';

/**
 * The locale by which a browser writes numbers and dates (Intl). Chromium takes it from its environment alone, in the form of
 * POSIX, whether the system has that locale or not; without one it reports a language that Intl refuses, `en-US@posix`.
 *
 * @param locale a language tag of BCP 47: language, script and region.
 */
export function localeEnvironment(locale: string): Record<string, string> {
  return { LC_ALL: `${locale.replaceAll('-', '_')}.UTF-8` };
}
