import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { optionsOf, SOME_FAILED } from './batch-command.ts';
import { pdfNameOf } from './batch-file.ts';
import { CommandError } from './command-error.ts';
import { ProgressBar, type ProgressStream } from './progress-bar.ts';
import { ServiceClient } from './service-client.ts';

const USAGE = `usage: platen render FILE… --out DIR [--options JSON]

Renders HTML files; the PDF of letter.html is DIR/letter.pdf. --options are those of every document. The service is that of
PLATEN_URL, with the key in PLATEN_API_KEY.

Exits with 0 when all were rendered; with 2 when some were not, which are named; with 1 when nothing was done.`;

/** Renders at a time: what a plan has not room for waits at the service. */
const AT_ONCE = 4;
const LONGEST_PAUSE_MS = 2000;

interface JobState {
  readonly jobId: string;
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string } | null;
}

/**
 * `platen render …`.
 *
 * @param argv what comes after `render`.
 * @returns the exit code.
 * @throws CommandError when nothing could be done.
 */
export async function runRenderCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { print, stderr }: { print: (text: string) => void; stderr: ProgressStream },
): Promise<number> {
  const { files, out, options } = parse(argv);
  const client = new ServiceClient(environment);
  await mkdir(out, { recursive: true }).catch((error: Error) => {
    throw new CommandError(`--out: ${error.message}`);
  });
  const bar = new ProgressBar(stderr);
  const failures: string[] = [];
  const left = [...files];
  let done = 0;
  const work = async () => {
    for (let file = left.shift(); file !== undefined; file = left.shift()) {
      await render(client, file, join(out, pdfNameOf(file)), options).catch((error: Error) => {
        failures.push(`${file}: ${error.message}`);
      });
      done += 1;
      bar.show(done, files.length, failures.length > 0 ? `${failures.length} failed` : '');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  bar.end();
  const rendered = files.length - failures.length;
  if (rendered === 0) throw new CommandError(failures.join('\n'));
  for (const failure of failures) stderr.write(`${failure}\n`);
  print(`${rendered} of ${files.length} PDFs are in ${out}.`);
  return failures.length > 0 ? SOME_FAILED : 0;
}

async function render(
  client: ServiceClient,
  file: string,
  target: string,
  options: object | undefined,
): Promise<void> {
  const html = await readFile(file, 'utf8');
  const body = { html, filename: pdfNameOf(file), executionMode: 'async', ...(options && { options }) };
  const order = { method: 'POST', body, idempotencyKey: randomUUID() } as const;
  const { jobId } = await client.json<JobState>('v1/pdf', order);
  for (let pause = 200; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 1.3)) {
    const { status, error } = await client.json<JobState>(`v1/pdf/jobs/${jobId}`);
    if (status === 'completed') return client.save(`v1/pdf/jobs/${jobId}/file`, target);
    if (status === 'failed' || status === 'cancelled') {
      throw new Error(`${error?.code ?? status}: ${error?.message ?? 'The job has not completed.'}`);
    }
    await sleep(pause);
  }
}

function parse(argv: readonly string[]): { files: string[]; out: string; options: object | undefined } {
  let parsed: ReturnType<typeof parseStrictly>;
  try {
    parsed = parseStrictly(argv);
  } catch (error) {
    throw misused((error as Error).message);
  }
  const files = parsed.positionals;
  const { out, options } = parsed.values;
  if (files.length === 0) throw misused('Which files are to be rendered?');
  if (out === undefined) throw misused('--out says where the PDFs go.');
  const names = new Map<string, string>();
  for (const file of files) {
    const other = names.get(pdfNameOf(file));
    if (other !== undefined)
      throw new CommandError(`${other} and ${file} would both become ${pdfNameOf(file)}.`);
    names.set(pdfNameOf(file), file);
  }
  return { files, out, options: optionsOf(options) };
}

function parseStrictly(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    strict: true,
    options: { out: { type: 'string' }, options: { type: 'string' } },
  });
}

function misused(message: string): CommandError {
  return new CommandError(`${message}\n\n${USAGE}`);
}
