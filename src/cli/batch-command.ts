import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type PlacedItem, readBatchFile } from './batch-file.ts';
import { CommandError } from './command-error.ts';
import { ProgressBar, type ProgressStream } from './progress-bar.ts';
import { RefusedError, ServiceClient } from './service-client.ts';

const USAGE = `usage: platen batch FILE.csv|FILE.ndjson [--template ID] --out OUT.zip|DIR [--options JSON]

Renders every row of the file with the template, and saves the PDFs in a zip, or in the folder DIR. Of a CSV file the first row
names the columns; a line of NDJSON is the data of one document, or a whole item of a batch. --options are those of every
document. The service is that of PLATEN_URL, with the key in PLATEN_API_KEY.

Exits with 0 when all were rendered; with 2 when some were not, which are named; with 1 when nothing was done.`;

const FIRST_LOOK_MS = 300;
const LONGEST_PAUSE_MS = 2000;
const ITEMS_PAGE = 1000;
/** Exit code when some items have failed. */
export const SOME_FAILED = 2;

interface Parts {
  readonly print: (text: string) => void;
  /** Where progress is drawn, and what failed is told. */
  readonly stderr: ProgressStream;
}

interface Arguments {
  readonly file: string;
  readonly out: string;
  readonly templateId: string | undefined;
  readonly options: object | undefined;
}

interface BatchState {
  readonly jobId: string;
  readonly finishedAt: string | null;
  readonly progress: { readonly total: number; readonly completed: number; readonly failed: number };
}

interface ItemState {
  readonly itemId: string;
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/**
 * `platen batch …`.
 *
 * @param argv what comes after `batch`.
 * @returns the exit code.
 * @throws CommandError when nothing could be done.
 */
export async function runBatchCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { print, stderr }: Parts,
): Promise<number> {
  const { file, out, templateId, options } = parse(argv);
  const client = new ServiceClient(environment);
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}`);
  });
  const placed = readBatchFile({ name: file, text, templateId });
  const items = placed.map(({ item }) => (options === undefined ? item : { options, ...item }));
  // Found out before anything is rendered.
  await mkdir(isZip(out) ? dirname(out) : out, { recursive: true }).catch((error: Error) => {
    throw new CommandError(`--out: ${error.message}`);
  });
  const { jobId } = await client
    .json<BatchState>('v1/pdf/batch', { method: 'POST', body: { items }, idempotencyKey: randomUUID() })
    .catch((error: unknown) => {
      throw error instanceof RefusedError ? inFile(error, file, placed) : error;
    });
  stderr.write(`The batch is ${jobId}.\n`);
  const { progress } = await follow(client, jobId, stderr);
  if (progress.failed > 0) await tellFailed(client, jobId, file, placed, stderr);
  if (progress.completed > 0) await save(client, jobId, out);
  print(
    `${progress.completed} of ${progress.total} PDFs are in ${progress.completed > 0 ? out : 'no file: none was rendered'}.`,
  );
  return progress.failed > 0 ? SOME_FAILED : 0;
}

async function follow(client: ServiceClient, jobId: string, stderr: ProgressStream): Promise<BatchState> {
  const bar = new ProgressBar(stderr);
  try {
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 1.3)) {
      const batch = await client.json<BatchState>(`v1/pdf/batch/${jobId}?limit=0`);
      const { completed, failed, total } = batch.progress;
      bar.show(completed + failed, total, failed > 0 ? `${failed} failed` : '');
      if (batch.finishedAt !== null) return batch;
      await sleep(pause);
    }
  } finally {
    bar.end();
  }
}

async function* itemsOf(client: ServiceClient, jobId: string): AsyncGenerator<ItemState> {
  for (let offset = 0; ; offset += ITEMS_PAGE) {
    const path = `v1/pdf/batch/${jobId}?limit=${ITEMS_PAGE}&offset=${offset}`;
    const { items } = await client.json<{ items: ItemState[] }>(path);
    yield* items;
    if (items.length < ITEMS_PAGE) return;
  }
}

async function tellFailed(
  client: ServiceClient,
  jobId: string,
  file: string,
  placed: readonly PlacedItem[],
  stderr: ProgressStream,
): Promise<void> {
  const lines = new Map(placed.map(({ line, item }) => [item.id, line]));
  for await (const { itemId, error } of itemsOf(client, jobId)) {
    if (error === null) continue;
    stderr.write(
      `${file}:${lines.get(itemId)}: ${JSON.stringify(itemId)}: ${error.code}: ${error.message}\n`,
    );
  }
}

async function save(client: ServiceClient, jobId: string, out: string): Promise<void> {
  if (isZip(out)) return client.save(`v1/pdf/batch/${jobId}/zip`, out);
  for await (const { itemId, status } of itemsOf(client, jobId)) {
    if (status !== 'completed') continue;
    // An id may be anything; a file's name may not.
    const name = encodeURIComponent(itemId).slice(0, 200);
    await client.save(`v1/pdf/batch/${jobId}/${encodeURIComponent(itemId)}`, join(out, `${name}.pdf`));
  }
}

function isZip(out: string): boolean {
  return /\.zip$/i.test(out);
}

/** What the service says of an item by its index, with the line it stands in. */
function inFile(error: RefusedError, file: string, placed: readonly PlacedItem[]): CommandError {
  const faults = error.messages.map((message) => {
    const place = /^items\[(\d+)\](?: \(".*?"\))?\.?:? ?/.exec(message);
    const line = place === null ? undefined : placed[Number(place[1])]?.line;
    return line === undefined ? `${file}: ${message}` : `${file}:${line}: ${message.slice(place![0].length)}`;
  });
  return new CommandError(`The service refuses (${error.code ?? error.status}):\n${faults.join('\n')}`);
}

function parse(argv: readonly string[]): Arguments {
  let parsed: ReturnType<typeof parseStrictly>;
  try {
    parsed = parseStrictly(argv);
  } catch (error) {
    throw misused((error as Error).message);
  }
  const [file, ...more] = parsed.positionals;
  const { out, template, options } = parsed.values;
  if (file === undefined || more.length > 0) throw misused('Which file is to be rendered?');
  if (out === undefined) throw misused('--out says where the PDFs go.');
  return { file, out, templateId: template, options: optionsOf(options) };
}

function parseStrictly(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    strict: true,
    options: { out: { type: 'string' }, template: { type: 'string' }, options: { type: 'string' } },
  });
}

/** @throws CommandError when they are no JSON object. */
export function optionsOf(text: string | undefined): object | undefined {
  if (text === undefined) return undefined;
  try {
    const options: unknown = JSON.parse(text);
    if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options;
  } catch {
    // It is said below.
  }
  throw new CommandError('--options must be a JSON object: \'{"format": "A5"}\'');
}

function misused(message: string): CommandError {
  return new CommandError(`${message}\n\n${USAGE}`);
}
