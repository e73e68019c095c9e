/** How a snippet of each language is run by a shell, once it lies in a file. */
const PROGRAMS: Readonly<Record<string, { readonly extension: string; readonly command: string }>> = {
  ts: { extension: 'mts', command: process.execPath },
  python: { extension: 'py', command: 'python3' },
  go: { extension: 'go', command: 'go run' },
};

const SAVES = / -o ([\w./$-]+\.(?:pdf|zip))/;

/** What a reader's shell does by itself, and an end at the first command that fails or response that is an error. */
const SHELL = `set -Eeuo pipefail
shopt -s expand_aliases
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
curl() { command curl --fail-with-body "$@"; }
`;

/** The commands of a page's shell snippets, one after another as a reader would give them. */
export function shellOf(markdown: string): string {
  return blocksOf(markdown)
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)
    .join('\n');
}

/** A shell script that runs every snippet of a page in an installed language, in the order of the page. */
export function programOf(markdown: string): string {
  const scripts = blocksOf(markdown).map(({ language, text }, index) => {
    if (language === 'sh') return text;
    const program = PROGRAMS[language];
    if (program === undefined) return '';
    const file = `snippet-${index}.${program.extension}`;
    return `cat > ${file} <<'END_OF_SNIPPET'\n${text}END_OF_SNIPPET\n${program.command} ${file}\n`;
  });
  return scripts.join('\n');
}

/**
 * One program of all TypeScript snippets of a page, in its order. All share the first one, as readers expect; each of
 * the others has its own names.
 *
 * @param given declares what the snippets use and a reader has.
 * @param modules where modules are that the page imports by their names.
 */
export function typescriptOf(
  markdown: string,
  given: string,
  modules: Readonly<Record<string, string>>,
): string {
  const imports = /^import .*\n/gm;
  const snippets = blocksOf(markdown).filter(({ language }) => language === 'ts');
  const [first = '', ...others] = snippets.map(({ text }) => text.replace(imports, ''));
  const program = [
    ...new Set([given, ...snippets.map(({ text }) => text)].flatMap((text) => text.match(imports) ?? [])),
    given.replace(imports, ''),
    first,
    ...others.map((text) => `{\n${text}}\n`),
  ].join('\n');
  return Object.entries(modules).reduce(
    (text, [name, to]) => text.replaceAll(`'${name}'`, `'${to}'`),
    program,
  );
}

/** Makes of commands what bash runs as a reader's shell would, but for the first error, which ends it. */
export function strictShell(commands: string): string {
  return SHELL + commands;
}

/** Each command of a page that saves what it downloads as a PDF or a zip. */
export function savingCommandsOf(markdown: string): string[] {
  return blocksOf(markdown)
    .filter(({ language }) => ['sh', 'text'].includes(language))
    .flatMap(({ text }) => text.split(/(?=\bcurl )/))
    .filter((command) => command.startsWith('curl ') && SAVES.test(command));
}

/** The PDFs and zips that the commands and programs of a page write. */
export function savedFilesOf(markdown: string): string[] {
  const commands = savingCommandsOf(markdown).map((command) => SAVES.exec(command)![1]!);
  const programs = [...markdown.matchAll(/(?:writeFile|open|WriteFile)\(['"]([\w-]+\.pdf)['"]/g)];
  return [...commands, ...programs.map(([, file]) => file!)].filter((file) => !file.includes('$'));
}

function blocksOf(markdown: string): { language: string; text: string }[] {
  return [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
}
