/** A family of the fonts that documents are printed with, on every machine. */
export interface FontFamily {
  /** As the files name it, and as documents may. */
  readonly family: string;
  /** The package of fonts/package.json that has it. */
  readonly package: string;
  /** SPDX, or what its authors call it. */
  readonly licence: string;
  /** The scripts and languages whose characters it has. */
  readonly covers: string;
  /** Its files in the package, as globs. */
  readonly files: readonly string[];
  /** Families that it is used instead of where those are not installed. */
  readonly replaces?: readonly string[];
}

const FOUR = ['400Regular', '400Regular_Italic', '700Bold', '700Bold_Italic'];
const TWO = ['400Regular', '700Bold'];
const ONE = ['400Regular'];

/** A family of Google Fonts, of whose files the weights and styles that CSS has words for are taken. */
function google(
  family: string,
  covers: string,
  styles: readonly string[],
  replaces: readonly string[] = [],
): FontFamily {
  return {
    family,
    package: `@expo-google-fonts/${family.toLowerCase().replaceAll(' ', '-')}`,
    licence: 'OFL-1.1',
    covers,
    files: styles.map((style) => `${style}/*.ttf`),
    replaces,
  };
}

/** Of a script that has a family of its own. */
function script(name: string, styles: readonly string[] = TWO): FontFamily {
  return google(`Noto Sans ${name}`, name, styles);
}

function cjk(region: string, covers: string, replaces: readonly string[] = []): FontFamily {
  return google(`Noto Sans ${region}`, covers, TWO, [`Noto Sans CJK ${region}`, ...replaces]);
}

/**
 * In the order in which they are tried for a character that the fonts of its element lack. Whoever adds one adds its
 * package to fonts/package.json.
 */
export const FONTS: readonly FontFamily[] = [
  google('Arimo', 'Latin, Greek, Cyrillic, Hebrew', FOUR, [
    'Arial',
    'Helvetica',
    'Helvetica Neue',
    'Liberation Sans',
    'Nimbus Sans',
  ]),
  google('Tinos', 'Latin, Greek, Cyrillic, Hebrew', FOUR, [
    'Times New Roman',
    'Times',
    'Liberation Serif',
    'Nimbus Roman',
  ]),
  google('Cousine', 'Latin, Greek, Cyrillic, Hebrew', FOUR, [
    'Courier New',
    'Courier',
    'Liberation Mono',
    'Nimbus Mono PS',
  ]),
  google('Carlito', 'Latin, Greek, Cyrillic', FOUR, ['Calibri']),
  google('Caladea', 'Latin', FOUR, ['Cambria']),
  google('Gelasio', 'Latin', FOUR, ['Georgia']),
  script('Arabic'),
  script('Armenian'),
  script('Bengali'),
  script('Canadian Aboriginal'),
  script('Cherokee'),
  script('Devanagari'),
  script('Ethiopic'),
  script('Georgian'),
  script('Gujarati'),
  script('Gurmukhi'),
  script('Hebrew'),
  script('Kannada'),
  script('Khmer'),
  script('Lao'),
  script('Malayalam'),
  script('Mongolian', ONE),
  script('Myanmar'),
  script('Oriya'),
  script('Sinhala'),
  script('Tamil'),
  script('Telugu'),
  script('Thaana'),
  script('Thai'),
  google('Noto Serif Tibetan', 'Tibetan', TWO),
  script('Tifinagh', ONE),
  google('Noto Sans', 'Latin, Greek, Cyrillic, Devanagari', FOUR),
  google('Noto Serif', 'Latin, Greek, Cyrillic', FOUR),
  google('Noto Sans Mono', 'Latin, Greek, Cyrillic', TWO, ['Noto Mono']),
  // The first of the four has the characters of all but Korean, so that text without a language is in one font.
  cjk('SC', 'Chinese (simplified)'),
  cjk('JP', 'Japanese'),
  cjk('KR', 'Korean'),
  cjk('TC', 'Chinese (traditional)', ['Noto Sans HK', 'Noto Sans CJK HK']),
  {
    family: 'DejaVu Sans',
    package: 'dejavu-fonts-ttf',
    licence: 'Bitstream-Vera',
    covers: 'Latin, Greek, Cyrillic, symbols',
    files: ['ttf/DejaVuSans.ttf', 'ttf/DejaVuSans-{Bold,Oblique,BoldOblique}.ttf'],
    replaces: ['Verdana', 'Tahoma', 'Bitstream Vera Sans'],
  },
  script('Symbols'),
  google('Noto Sans Symbols 2', 'Symbols', ONE),
  google('Noto Sans Math', 'Mathematics', ONE, ['Cambria Math', 'Latin Modern Math', 'STIX Two Math']),
  google('Noto Color Emoji', 'Emoji', ONE, ['Apple Color Emoji', 'Segoe UI Emoji']),
];

/** The family that each generic family of CSS, and of Chromium's settings, stands for. */
export const GENERIC: Readonly<Record<string, string>> = {
  'sans-serif': 'Arimo',
  sans: 'Arimo',
  serif: 'Tinos',
  monospace: 'Cousine',
  'system-ui': 'Arimo',
  'ui-sans-serif': 'Arimo',
  'ui-serif': 'Tinos',
  'ui-monospace': 'Cousine',
  'ui-rounded': 'Arimo',
  cursive: 'Arimo',
  fantasy: 'Arimo',
  math: 'Noto Sans Math',
  emoji: 'Noto Color Emoji',
};

/** The family that is tried first for characters of text in a language. The languages as BCP 47, in lower case. */
export const BY_LANGUAGE: Readonly<Record<string, string>> = {
  ja: 'Noto Sans JP',
  ko: 'Noto Sans KR',
  'zh-tw': 'Noto Sans TC',
  'zh-hk': 'Noto Sans TC',
  'zh-mo': 'Noto Sans TC',
  'zh-hant': 'Noto Sans TC',
};
