import type { Findings, FontUse } from './findings.ts';
import { failed, type LoggedRequest, lastPart, RELATIVE } from './recorded-requests.ts';
import { relativeAssets, relativeLinks } from './relative-warnings.ts';

const MAX_WARNINGS = 50;
/** Characters without a font that one warning names. */
const SHOWN_CHARACTERS = 10;

/** Generic families (CSS Fonts 4, section 2.1.3), and names by which systems refer to their own fonts. */
const GENERIC =
  /^(serif|sans-serif|monospace|cursive|fantasy|system-ui|math|emoji|fangsong|ui-.*|-apple-system|blinkmacsystemfont|-webkit-.*)$/i;

/** By family: fonts with the same character widths, which do not change the layout. */
const SAME_WIDTHS: Readonly<Record<string, readonly string[]>> = {
  arial: ['liberation sans', 'arimo'],
  helvetica: ['liberation sans', 'arimo', 'nimbus sans'],
  'times new roman': ['liberation serif', 'tinos'],
  times: ['liberation serif', 'tinos', 'nimbus roman'],
  'courier new': ['liberation mono', 'cousine'],
  courier: ['liberation mono', 'cousine', 'nimbus mono ps'],
  calibri: ['carlito'],
  cambria: ['caladea'],
};

/** The family that the browser reports if no style sheet names one. */
const DEFAULT_FAMILY = 'Times New Roman';

/** Scripts that a warning names; characters of other scripts are shown without a script name. */
const SCRIPTS = (
  'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada ' +
  'Katakana Khmer Lao Latin Malayalam Myanmar Sinhala Tamil Telugu Thai Tibetan'
)
  .split(' ')
  .map((name) => ({ name, pattern: new RegExp(`\\p{Script=${name}}`, 'u') }));

/** Warnings about problems that the author of a template can solve, in plain words. */
export function warningsOf(findings: Findings): string[] {
  const { sourceWarnings, requests, exceptions, fonts, waits, missingGlyphs, observations } = findings;
  const { accessibility, unseen } = findings;
  const warnings = [
    ...sourceWarnings,
    ...observations.map(({ message }) => message),
    ...accessibility.filter(({ whose }) => whose === 'document').map(({ message }) => message),
    ...unseen,
    ...requests.entries.filter(failed).flatMap((request) => requestWarning(request) ?? []),
    ...relativeAssets(requests.entries),
    ...relativeLinks(findings),
    ...findings.notDisplayed.map((name) => `${name} is not printed: displayHeaderFooter is not set`),
    ...exceptions.map(({ message, at }) => `A script has thrown: ${message}${at && ` (${at})`}`),
    ...fonts.flatMap((use) => fontWarning(use) ?? []),
    ...glyphWarnings(missingGlyphs),
    ...waits
      .filter(({ outcome }) => outcome === 'given up')
      .map(({ name, ms }) => `${name} had not come after ${ms} ms: the document was printed as it was`),
    ...unarrivedWarnings(findings),
  ];
  const different = [...new Set(warnings)];
  if (different.length > MAX_WARNINGS) findings.truncated.add('warnings');
  return different.slice(0, MAX_WARNINGS);
}

/** What a render has waited for in vain, or whose arrival was not waited for. */
function unarrivedWarnings({ requests, waits }: Findings): string[] {
  // Giving up to wait for what is loaded cancels what has not arrived. Otherwise a script does, on purpose.
  const givenUp = waits.some(({ name, outcome }) => outcome === 'given up' && name !== 'drawn');
  const isLeft = ({ main, outcome }: LoggedRequest) =>
    main &&
    outcome === 'pending' &&
    requests.entries.some((request) => request.main && request.outcome === 'loaded');
  return requests.entries.flatMap((request) => {
    const { url, outcome, kind, ms } = request;
    // A script has left the page before all of it was there.
    if (isLeft(request)) return [];
    if (outcome === 'pending') return [`${nameOf(url)} had not arrived when the render ended (${url})`];
    if (outcome !== 'cancelled') return [];
    if (givenUp)
      return [`${nameOf(url)} had not arrived after ${ms} ms, when the wait was given up (${url})`];
    return kind === 'frame' ? [`the frame ${nameOf(url)} was left after ${ms} ms (${url})`] : [];
  });
}

function requestWarning({ url, outcome, status, rule, error }: LoggedRequest): string | undefined {
  if (rule === RELATIVE) return undefined;
  const name = nameOf(url);
  if (outcome === 'error') return `${name} answered ${status} (${url})`;
  if (outcome === 'unreachable') return `${name} could not be loaded: ${error ?? 'no response'} (${url})`;
  // The caller wants this request blocked.
  if (rule === 'blockRequests') return undefined;
  if (rule === 'egress') return `${name} leads to an address that may not be reached (${url})`;
  return `${name} was blocked by ${rule ?? 'the browser'} (${url})`;
}

function fontWarning({ asked, used }: FontUse): string | undefined {
  const [first] = asked;
  if (first === undefined || GENERIC.test(first) || used.length === 0) return undefined;
  if (asked.length === 1 && first === DEFAULT_FAMILY) return undefined;
  const stand = SAME_WIDTHS[first.toLowerCase()] ?? [];
  const isThere = used.some(({ family, webFont }) => {
    const name = family.toLowerCase();
    return webFont || name.startsWith(first.toLowerCase()) || stand.includes(name);
  });
  if (isThere) return undefined;
  const others = used.map(({ family }) => family).join(', ');
  const stands = used.length === 1 ? 'stands' : 'stand';
  return `the font ${first} was asked for and not there; ${others} ${stands} in`;
}

function glyphWarnings(missing: Findings['missingGlyphs']): string[] {
  const groups = Map.groupBy(missing, ({ character }) => {
    return SCRIPTS.find(({ pattern }) => pattern.test(character))?.name ?? '';
  });
  return [...groups].map(([script, glyphs]) => {
    const characters = [...new Set(glyphs.map(({ character }) => character))];
    const pages = [...new Set(glyphs.map(({ page }) => page))].slice(0, SHOWN_CHARACTERS).join(', ');
    const many = characters.length === 1 ? '1 character' : `${characters.length} characters`;
    const have = characters.length === 1 ? 'has' : 'have';
    const shown = characters.slice(0, SHOWN_CHARACTERS).join(' ');
    return `${many}${script && ` of ${script}`} ${have} no font: ${shown} (page ${pages})`;
  });
}

function nameOf(url: string): string {
  return lastPart(url) ?? url;
}
