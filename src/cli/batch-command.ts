import { openAsBlob } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import {
  type BatchItemInput,
  type BatchStanding,
  type BatchSummary,
  PlatenApiError,
  type PlatenClient,
  type RenderOptions,
} from '../../clients/typescript/src/index.ts';
import { PDF_EXTENSION } from '../infra/outputs/media-type.ts';
import { type PlacedItem, readBatchFile } from './batch-file.ts';
import { CommandError } from './command-error.ts';
import { misused, parseCommandLine } from './command-line.ts';
import { openClient, reported, saveAs } from './open-client.ts';
import { ProgressBar, type ProgressStream } from './progress-bar.ts';

const USAGE = `usage: platen batch FILE.csv|FILE.ndjson [--template ID] --out OUT.zip|DIR [--options JSON]
       platen batch FILE.csv|FILE.ndjson --source --template ID --out OUT.zip|DIR [--options JSON] [--id-column NAME]

Renders every row of the file with the template, and saves the PDFs in a zip or in the folder DIR. The first row of a CSV file
names the columns. A line of NDJSON is the data of one document, or a whole item of a batch. --options apply to every document.
With --source the file is uploaded as it is, and may have 100,000 rows; those that are wrong have failed, the others are
rendered. PLATEN_URL is the service, and PLATEN_API_KEY the key.

Exits with 0 if all were rendered; with 2 if some were not (each is named); with 1 if nothing was done.`;

/** Exit code when some items have failed. */
export const SOME_FAILED = 2;

interface Deps {
  readonly print: (text: string) => void;
  /** Receives the progress, and the items that failed. */
  readonly stderr: ProgressStream;
}

interface Arguments {
  readonly file: string;
  readonly out: string;
  readonly templateId: string | undefined;
  readonly options: RenderOptions | undefined;
  /** Whether the service reads the rows. */
  readonly source: boolean;
  readonly idColumn: string | undefined;
}

/** `platen batch …`. @returns the exit code. @throws CommandError when nothing could be done. */
export async function runBatchCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { print, stderr }: Deps,
): Promise<number> {
  const order = parse(argv);
  const client = openClient(environment);
  try {
    return await (order.source ? renderSource : renderBatch)(client, order, { print, stderr });
  } catch (error) {
    throw reported(error, environment);
  }
}

async function renderBatch(
  client: PlatenClient,
  { file, out, templateId, options }: Arguments,
  { print, stderr }: Deps,
): Promise<number> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}`);
  });
  const placed = readBatchFile({ name: file, text, templateId });
  const items = placed.map(({ item }) => (options === undefined ? item : { options, ...item }));
  // If the folder cannot be made, the command fails before anything is rendered.
  await mkdir(isZip(out) ? dirname(out) : out, { recursive: true }).catch((error: Error) => {
    throw new CommandError(`--out: ${error.message}`);
  });
  const { jobId } = await client.batches
    .create({ items: items as BatchItemInput[] })
    .catch((error: unknown) => {
      throw error instanceof PlatenApiError ? inFile(error, file, placed) : error;
    });
  const lines = new Map(placed.map(({ line, item }) => [item.id, line]));
  const where = (itemId: string) => `${file}:${lines.get(itemId)}`;
  return await fetchRendered(client, jobId, { out, where, print, stderr });
}

/** Has the service read the rows of the file. */
async function renderSource(
  client: PlatenClient,
  { file, out, templateId, options, idColumn }: Arguments,
  { print, stderr }: Deps,
): Promise<number> {
  if (templateId === undefined) throw new CommandError('--source needs --template ID.');
  const format = extname(file).toLowerCase() === '.csv' ? 'csv' : 'ndjson';
  const content = await openAsBlob(file).catch((error: Error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}`);
  });
  await mkdir(isZip(out) ? dirname(out) : out, { recursive: true }).catch((error: Error) => {
    throw new CommandError(`--out: ${error.message}`);
  });
  const { id: upload } = await client.batches.upload(content, format);
  const columns = idColumn === undefined ? {} : { idColumn };
  const { jobId } = await client.batches.create({
    source: { upload, format, templateId, ...columns, ...(options && { options }) },
  });
  const ended = await fetchRendered(client, jobId, { out, where: () => file, print, stderr });
  const { source } = await client.batches.get(jobId, { limit: 0 });
  if (source?.error == null) return ended;
  throw new CommandError(`${file}: ${source.error.code}: ${source.error.message}`);
}

/** Follows a batch to its end, names what has failed, and saves the rest. @returns the exit code. */
async function fetchRendered(
  client: PlatenClient,
  jobId: string,
  { out, where, print, stderr }: Deps & { readonly out: string; readonly where: (itemId: string) => string },
): Promise<number> {
  stderr.write(`The batch is ${jobId}.\n`);
  const { progress } = await follow(client, jobId, stderr);
  if (progress.failed > 0) await reportFailed(client, jobId, where, stderr);
  if (progress.completed > 0) await download(client, jobId, out);
  print(
    `${progress.completed} of ${progress.total} PDFs are in ${progress.completed > 0 ? out : 'no file: none was rendered'}.`,
  );
  return progress.failed > 0 ? SOME_FAILED : 0;
}

async function follow(client: PlatenClient, jobId: string, stderr: ProgressStream): Promise<BatchSummary> {
  const bar = new ProgressBar(stderr);
  const onProgress = ({ progress: { completed, failed, total } }: BatchStanding) =>
    bar.show(completed + failed, total, failed > 0 ? `${failed} failed` : '');
  try {
    return await client.batches.wait(jobId, { onProgress });
  } finally {
    bar.end();
  }
}

async function reportFailed(
  client: PlatenClient,
  jobId: string,
  where: (itemId: string) => string,
  stderr: ProgressStream,
): Promise<void> {
  for await (const { itemId, error } of client.batches.items(jobId)) {
    if (error === null) continue;
    stderr.write(`${where(itemId)}: ${JSON.stringify(itemId)}: ${error.code}: ${error.message}\n`);
  }
}

async function download(client: PlatenClient, jobId: string, out: string): Promise<void> {
  if (isZip(out)) return saveAs(out, client.batches.download(jobId, out));
  for await (const { itemId, status } of client.batches.items(jobId)) {
    if (status !== 'completed') continue;
    // An id may have characters that a file name may not have.
    const file = join(out, `${encodeURIComponent(itemId).slice(0, 200)}${PDF_EXTENSION}`);
    await saveAs(file, client.batches.downloadItem(jobId, itemId, file));
  }
}

function isZip(out: string): boolean {
  return /\.zip$/i.test(out);
}

/** The service's errors, with the file's line in front of each error that names an item. */
function inFile(error: PlatenApiError, file: string, placed: readonly PlacedItem[]): CommandError {
  const errors = error.messages.map((message) => {
    const index = /^items\[(\d+)\](?: \(".*?"\))?\.?:? ?/.exec(message);
    const line = index === null ? undefined : placed[Number(index[1])]?.line;
    return line === undefined ? `${file}: ${message}` : `${file}:${line}: ${message.slice(index![0].length)}`;
  });
  return new CommandError(`The service refuses (${error.code ?? error.status}):\n${errors.join('\n')}`);
}

function parse(argv: readonly string[]): Arguments {
  const given = {
    out: { type: 'string' },
    template: { type: 'string' },
    options: { type: 'string' },
    source: { type: 'boolean' },
    'id-column': { type: 'string' },
  } as const;
  const { positionals, values } = parseCommandLine(argv, given, USAGE);
  const [file, ...more] = positionals;
  const { out, template, options, source = false, 'id-column': idColumn } = values;
  if (file === undefined || more.length > 0) throw misused('Which file is to be rendered?', USAGE);
  if (out === undefined) throw misused('--out says where the PDFs go.', USAGE);
  return { file, out, templateId: template, options: optionsOf(options), source, idColumn };
}

/** @throws CommandError when the options are not a JSON object. */
export function optionsOf(text: string | undefined): RenderOptions | undefined {
  if (text === undefined) return undefined;
  try {
    const options: unknown = JSON.parse(text);
    if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options;
  } catch {
    // The error is thrown below.
  }
  throw new CommandError('--options must be a JSON object: \'{"format": "A5"}\'');
}
