import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PlatenClient, PlatenJobError, type RenderOptions } from '../../clients/typescript/src/index.ts';
import { optionsOf, SOME_FAILED } from './batch-command.ts';
import { pdfNameOf } from './batch-file.ts';
import { CommandError } from './command-error.ts';
import { misused, parseCommandLine } from './command-line.ts';
import { openClient, reported, saveAs } from './open-client.ts';
import { ProgressBar, type ProgressStream } from './progress-bar.ts';

const USAGE = `usage: platen render FILE… --out DIR [--options JSON] [--report]

Renders HTML files; the PDF of letter.html is DIR/letter.pdf. --options apply to every document. --report prints the warnings
of each: assets that could not be loaded, missing fonts and characters, exceptions of scripts. PLATEN_URL is the service, and
PLATEN_API_KEY the key.

Exits with 0 if all were rendered; with 2 if some were not (each is named); with 1 if nothing was done.`;

/** Renders at a time. Renders beyond the plan's slots wait at the service. */
const AT_ONCE = 4;

/** `platen render …`. @returns the exit code. @throws CommandError when nothing could be done. */
export async function runRenderCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { print, stderr }: { print: (text: string) => void; stderr: ProgressStream },
): Promise<number> {
  const { files, out, options, report } = parse(argv);
  const client = openClient(environment);
  await mkdir(out, { recursive: true }).catch((error: Error) => {
    throw new CommandError(`--out: ${error.message}`);
  });
  const bar = new ProgressBar(stderr);
  const failures: string[] = [];
  const warnings: string[] = [];
  const left = [...files];
  let done = 0;
  const work = async () => {
    for (let file = left.shift(); file !== undefined; file = left.shift()) {
      const order = { options, report, target: join(out, pdfNameOf(file)) };
      await renderFile(client, file, order).then(
        (found) => void warnings.push(...found.map((warning) => `${file}: ${warning}`)),
        (error: unknown) => void failures.push(`${file}: ${reported(error, environment).message}`),
      );
      done += 1;
      bar.show(done, files.length, failures.length > 0 ? `${failures.length} failed` : '');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  bar.end();
  const rendered = files.length - failures.length;
  for (const warning of warnings) print(warning);
  if (rendered === 0) throw new CommandError(failures.join('\n'));
  for (const failure of failures) stderr.write(`${failure}\n`);
  print(`${rendered} of ${files.length} PDFs are in ${out}.`);
  return failures.length > 0 ? SOME_FAILED : 0;
}

/**
 * Renders one file, and saves its PDF as `target`, if given.
 *
 * @returns the warnings of its report, if one is requested.
 * @throws Error when the render fails, with its code and its warnings, if any; the errors of the client.
 */
export async function renderFile(
  client: PlatenClient,
  file: string,
  { options, report, target }: { options?: RenderOptions | undefined; report: boolean; target?: string },
): Promise<string[]> {
  const html = await readFile(file, 'utf8');
  const { jobId } = await client.renderAsync({
    html,
    filename: pdfNameOf(file),
    ...((options || report) && { options: { ...options, ...(report && { report }) } }),
  });
  const job = await client.waitFor(jobId).catch((error: unknown) => {
    if (error instanceof PlatenJobError && error.job !== undefined) return error.job;
    throw error;
  });
  const warnings = job.reportEndpoint === undefined ? [] : (await client.report(jobId)).warnings;
  if (job.status !== 'completed') {
    const why = `${job.error?.code ?? job.status}: ${job.error?.message ?? 'The job has not completed.'}`;
    throw new Error([why, ...warnings].join('\n  '));
  }
  if (target !== undefined) await saveAs(target, client.download(jobId, target));
  return warnings;
}

function parse(argv: readonly string[]): {
  files: string[];
  out: string;
  options: RenderOptions | undefined;
  report: boolean;
} {
  const given = {
    out: { type: 'string' },
    options: { type: 'string' },
    report: { type: 'boolean' },
  } as const;
  const { positionals: files, values } = parseCommandLine(argv, given, USAGE);
  const { out, options, report = false } = values;
  if (files.length === 0) throw misused('Which files are to be rendered?', USAGE);
  if (out === undefined) throw misused('--out says where the PDFs go.', USAGE);
  const names = new Map<string, string>();
  for (const file of files) {
    const other = names.get(pdfNameOf(file));
    if (other !== undefined)
      throw new CommandError(`${other} and ${file} would both become ${pdfNameOf(file)}.`);
    names.set(pdfNameOf(file), file);
  }
  return { files, out, options: optionsOf(options), report };
}
