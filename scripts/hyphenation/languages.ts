/**
 * The languages that have a dictionary. Each licence was read in the head of its file in hyph-utf8
 * (https://github.com/hyphenation/tex-hyphen), where the npm package has its patterns from; of several licences that a file
 * may be had under, the most permissive one is named.
 */

/** SPDX identifiers, without the version of the LPPL; `own`: terms in the words of the author, see licences.txt. */
type Licence = 'MIT' | 'BSD-3-Clause' | 'FSFAP' | 'own' | 'LPPL' | 'MPL-1.1' | 'LGPL-2.1' | 'LGPL-3.0';

export interface Language {
  /**
   * What Chromium makes of a `lang`, which is the name of the file that it opens: the first part of the tag, but for those
   * in `HyphenationMinikin::MapLocale` of third_party/blink/renderer/platform/text/hyphenation/hyphenation_minikin.cc.
   */
  readonly locale: string;
  readonly name: string;
  readonly licence: Licence;
  /** Years and holders. */
  readonly copyright: string;
  /** Files of the npm package: more than one for a language that is written in two scripts. */
  readonly patterns: readonly string[];
}

const GERMAN_AUTHORS =
  '2021 Stephan Hennig, Werner Lemberg, Günter Milde, Sander van Geloven, Georg Pfeiffer, Gisbert W. Selke, ' +
  'Tobias Wendorf, Keno Wehr';

const ROWS: readonly (readonly [string, string, Licence, string, (readonly string[])?])[] = [
  ['af', 'Afrikaans', 'LPPL', '2013 Tilla Fick and Chris Swanepoel'],
  ['as', 'Assamese', 'MIT', '2016 Santhosh Thottingal'],
  ['be', 'Belarusian', 'MIT', '2016 Maksim Salau'],
  ['bg', 'Bulgarian', 'own', '2000, 2004, 2017 Anton Zinoviev'],
  ['bn', 'Bengali', 'MIT', '2016 Santhosh Thottingal'],
  ['ca', 'Catalan', 'LPPL', 'December 1991-January 1995, July 2003 Gonçal Badenes'],
  ['cy', 'Welsh', 'MIT', '1996 Yannis Haralambous'],
  ['da', 'Danish', 'MIT', '1994 Frank Jensen'],
  ['de-1901', 'German (spelling of 1901)', 'MIT', `2013-${GERMAN_AUTHORS}`],
  ['de-1996', 'German', 'MIT', `2013-${GERMAN_AUTHORS}`],
  ['de-ch-1901', 'Swiss German (spelling of 1901)', 'MIT', `2009-${GERMAN_AUTHORS}`],
  ['el', 'Greek', 'LPPL', '2008-2011 Dimitrios Filippou', ['el-monoton']],
  ['en-gb', 'English (British)', 'MIT', '1992, 1996, 2005, 2016 Dominik Wujastyk, Graham Toal'],
  ['en-us', 'English (American)', 'FSFAP', '1990, 2004, 2005 Gerard D.C. Kuiken'],
  ['es', 'Spanish', 'MIT', '1993, 1997 Javier Bezos, 2001-2019 Javier Bezos, CervanTeX'],
  ['et', 'Estonian', 'MIT', '2004-2015 Enn Saar'],
  ['eu', 'Basque', 'own', '1997, 2008 Juan M. Aguirregabiria'],
  ['fi', 'Finnish', 'own', '1986, 1988, 1989 Kauko Saarinen'],
  ['fr', 'French', 'MIT', '1994-2002 Daniel Flipo, Bernard Gaulle, 2016 Arthur Reutenauer'],
  ['fur', 'Friulian', 'MIT', '2012 Claudio Beccari'],
  ['ga', 'Irish', 'MIT', '2004-2015 Kevin P. Scannell'],
  ['gl', 'Galician', 'LPPL', '2006, 2007, 2008, 2010 Javier A. Múgica'],
  ['grc', 'Ancient Greek', 'LPPL', '2008-2016 Dimitrios Filippou'],
  ['gu', 'Gujarati', 'MIT', '2016 Santhosh Thottingal'],
  ['hi', 'Hindi', 'MIT', '2016 Santhosh Thottingal'],
  ['hr', 'Croatian', 'LPPL', '1994, 1996, 2011, 2015 Igor Marinović'],
  ['hsb', 'Upper Sorbian', 'LPPL', '1997 Eduard Werner'],
  ['hu', 'Hungarian', 'MPL-1.1', '2003 Bence Nagy'],
  ['hy', 'Armenian', 'LGPL-3.0', '2010 Sahak Petrosyan'],
  ['ia', 'Interlingua', 'LPPL', '1989-2005 Peter Kleiweg'],
  ['is', 'Icelandic', 'LPPL', '1988, 2004 Jörgen Pind'],
  ['it', 'Italian', 'MIT', '2008-2011 Claudio Beccari'],
  ['ka', 'Georgian', 'LPPL', '2013 Levan Shoshiashvili'],
  ['kmr', 'Northern Kurdish', 'LPPL', '2009 Jörg Knappen, Medeni Shemdê'],
  ['kn', 'Kannada', 'MIT', '2016 Santhosh Thottingal'],
  ['la', 'Latin', 'MIT', '1999-2016 Claudio Beccari'],
  ['lt', 'Lithuanian', 'MIT', '1992 Sigitas Tolušis, Yannis Haralambous'],
  ['lv', 'Latvian', 'LGPL-2.1', '2004-2005 Janis Vilims'],
  ['ml', 'Malayalam', 'MIT', '2016 Santhosh Thottingal'],
  ['mn-cyrl', 'Mongolian', 'MIT', '2007-2015 Dorjgotov Batmunkh'],
  ['mr', 'Marathi', 'MIT', '2016 Santhosh Thottingal'],
  [
    'nb',
    'Norwegian Bokmål',
    'FSFAP',
    '2004-2005 Rune Kleveland, Ole Michael Selberg, 2007 Karl Ove Hufthammer',
  ],
  ['nl', 'Dutch', 'LPPL', '1996 Piet Tutelaers'],
  ['nn', 'Norwegian Nynorsk', 'FSFAP', '2007 Karl Ove Hufthammer'],
  ['oc', 'Occitan', 'MIT', '2016 Claudio Beccari'],
  ['or', 'Odia', 'MIT', '2016 Santhosh Thottingal'],
  ['pa', 'Punjabi', 'MIT', '2016 Santhosh Thottingal'],
  ['pi', 'Pali', 'MIT', '2018 Wie-Ming Cittānurakkho Bhikkhu'],
  ['pl', 'Polish', 'MIT', '1987-1995 Hanna Kołodziejska, Bogusław Jackowski, Marek Ryćko'],
  ['pms', 'Piedmontese', 'MIT', '2013 Claudio Beccari'],
  [
    'pt',
    'Portuguese',
    'BSD-3-Clause',
    '1987, 1994, 1996, 2015 Pedro J. de Rezende, 1996, 2015 J. Joao Dias Almeida',
  ],
  ['rm', 'Romansh', 'MIT', '2011 Claudio Beccari'],
  ['ru', 'Russian', 'LPPL', '1999-2003 Alexander I. Lebedev'],
  ['sa', 'Sanskrit', 'own', '2006-2011 Yves Codet'],
  ['sh', 'Serbo-Croatian', 'LPPL', '1990, 2008 Dejan Muhamedagić', ['sh-cyrl', 'sh-latn']],
  ['sl', 'Slovenian', 'MIT', '1990 Matjaž Vrečko'],
  ['sq', 'Albanian', 'MIT', '2020 Claudio Beccari, Sabina Koliqi, 2025 Arthur Rosendahl'],
  ['sr', 'Serbian', 'LPPL', '1990, 2008 Dejan Muhamedagić', ['sh-cyrl', 'sh-latn']],
  ['sv', 'Swedish', 'LPPL', '1994 Jan Michael Rynning'],
  ['ta', 'Tamil', 'MIT', '2016 Santhosh Thottingal'],
  ['te', 'Telugu', 'MIT', '2016 Santhosh Thottingal'],
  ['tk', 'Turkmen', 'MIT', '2010-2015 Nazar Annagurban'],
  ['tr', 'Turkish', 'LPPL', '1987 Pierre A. MacKay, 2008, 2011 TUG'],
  ['uk', 'Ukrainian', 'LPPL', '1998-2001 Maksym Polyakov'],
  [
    'und-ethi',
    'Amharic, Tigrinya and others in Ethiopic script',
    'MIT',
    '2011, 2016 Arthur Reutenauer',
    ['mul-ethi'],
  ],
];

export const LANGUAGES: readonly Language[] = ROWS.map(([locale, name, licence, copyright, patterns]) => ({
  locale,
  name,
  licence,
  copyright,
  patterns: patterns ?? [locale],
}));

/** Files of the npm package that no dictionary is made of, by the reason. */
export const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'may be had under the GPL alone': ['cs', 'id', 'mk', 'sk', 'sr-cyrl'],
  'has no licence': ['mn-cyrl-x-lmc', 'ro'],
  'is damaged': ['cop', 'cu'],
  'is of a spelling or use that no `lang` leads to': [
    'el-polyton',
    'fi-x-school',
    'la-x-classic',
    'la-x-liturgic',
  ],
  'is the same as `nb`, which `lang="no"` leads to': ['no'],
  'would break words of other languages in a Chinese text': ['zh-latn-pinyin'],
  'is of a language that takes no hyphens': ['th'],
};
