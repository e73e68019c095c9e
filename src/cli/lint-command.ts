import type { RenderOptions } from '../../clients/typescript/src/index.ts';
import { optionsOf } from './batch-command.ts';
import { misused, parseCommandLine } from './command-line.ts';
import { openClient, reported } from './open-client.ts';
import { renderFile } from './render-command.ts';

const USAGE = `usage: platen lint FILE… [--options JSON] [--accessible]

Renders HTML files and prints the warnings of their reports: assets that could not be loaded, missing fonts and characters,
exceptions of scripts. --accessible adds what keeps them from being read by everyone (PDF/UA): pictures without a text,
skipped headings, faint text and more. PLATEN_URL is the service, and PLATEN_API_KEY the key.

Exits with 0 if there are no warnings; with 1 if there are any, or if a file could not be rendered.`;

/** `platen lint …`. @returns the exit code. @throws CommandError for invalid arguments. */
export async function runLintCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<number> {
  const { files, options } = parse(argv);
  const client = openClient(environment);
  let found = 0;
  for (const file of files) {
    const warnings = await renderFile(client, file, { options, report: true }).catch((error: unknown) => [
      reported(error, environment).message,
    ]);
    for (const warning of warnings) print(`${file}: ${warning}`);
    found += warnings.length;
  }
  return found === 0 ? 0 : 1;
}

function parse(argv: readonly string[]): { files: string[]; options: RenderOptions | undefined } {
  const given = { options: { type: 'string' }, accessible: { type: 'boolean' } } as const;
  const { positionals, values } = parseCommandLine(argv, given, USAGE);
  if (positionals.length === 0) throw misused('Which files are to be checked?', USAGE);
  const options = optionsOf(values.options);
  return { files: positionals, options: values.accessible ? accessibly(options) : options };
}

/** With PDF/UA in addition to what is asked for; faults are reported, so that all of them are known. */
function accessibly(options: RenderOptions | undefined): RenderOptions {
  return { ...options, conformance: { ...options?.conformance, pdfua: true, onFault: 'report' } };
}
