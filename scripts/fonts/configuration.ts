import { BY_LANGUAGE, FONTS, GENERIC } from './list.ts';

/** Where operators put fonts of their own. */
export const OPERATORS_FONTS = '/usr/local/share/fonts';

/**
 * The configuration of fontconfig, for a folder with the fonts in `files`. It is complete: nothing of the machine's own
 * configuration and fonts is used, so that a document is printed alike everywhere.
 *
 * Another family is put before the requested one, but weakly: fontconfig takes the requested one where it is installed.
 * Chromium accepts nothing but the first family of the list or the requested one (Skia's SkFontConfigInterface_direct.cpp).
 * The language of the process is taken out, since it counts for more than a weak family.
 */
export function fontConfiguration(): string {
  const instead = FONTS.flatMap(({ family, replaces = [] }) =>
    replaces.map((name) =>
      rule(test('family', name), edit('prepend', 'weak', family), '<edit name="lang" mode="delete_all"/>'),
    ),
  );
  const generic = Object.entries(GENERIC).map(([name, family]) =>
    rule(test('family', name), edit('assign', 'strong', family)),
  );
  const byLanguage = Object.entries(BY_LANGUAGE).map(([language, family]) =>
    rule(test('lang', language), edit('append_last', 'weak', family)),
  );
  const all = rule('', edit('append_last', 'weak', ...FONTS.map(({ family }) => family)));
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${OPERATORS_FONTS}</dir>
  <dir prefix="relative">files</dir>
  <cachedir>/var/cache/fontconfig</cachedir>
  <cachedir prefix="xdg">fontconfig</cachedir>
${[...instead, ...generic, ...byLanguage, all].join('\n')}
  <match target="font">
    <edit name="hinting" mode="assign"><bool>false</bool></edit>
  </match>
</fontconfig>
`;
}

function rule(...edits: string[]): string {
  return `  <match target="pattern">${edits.join('')}</match>`;
}

function test(name: 'family' | 'lang', value: string): string {
  return `<test name="${name}"><string>${value}</string></test>`;
}

function edit(mode: string, binding: 'weak' | 'strong', ...families: string[]): string {
  const values = families.map((family) => `<string>${family}</string>`).join('');
  return `<edit name="family" mode="${mode}" binding="${binding}">${values}</edit>`;
}
