import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError, api, call } from '../api.ts';
import {
  fileOf,
  guessMapping,
  type Item,
  inFile,
  itemsOf,
  LINE_FIELDS,
  type Mapping,
} from '../batch/items.ts';
import { FileProblem, type RowFile, readRows } from '../batch/row-file.ts';
import { variablesOf } from '../batch/template-variables.ts';
import { useFilters } from '../filters.ts';
import { counted, number } from '../format.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmationNeeded } from '../ui/confirm-address.tsx';
import { Select, TextField } from '../ui/field.tsx';
import { FileDrop } from '../ui/file-drop.tsx';
import { IfMaySee } from '../ui/if-may.tsx';
import { Card, Page } from '../ui/page.tsx';
import { RenderOutcome } from '../ui/render-outcome.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { TemplateChoice } from '../ui/template-choice.tsx';
import { ColumnMapping } from './column-mapping.tsx';

/** Rows that are rendered as a proof. */
const PROOFS = 3;
/** Items that are sent in one request; more are uploaded as a file, and the first of them rendered as a proof. */
const LISTED = 1000;
const FIRST = 10;

/** A batch of a template and a file, whose columns fill in its variables. */
export default function NewBatch() {
  const [filters, setFilters] = useFilters();
  const templateId = filters.get('template') ?? '';
  const [file, setFile] = useState<RowFile>();
  const template = useQuery({
    queryKey: ['template', templateId],
    queryFn: () => call(api.GET('/user/templates/{id}', { params: { path: { id: templateId } } })),
    enabled: templateId !== '',
  });
  const limits = useLimits();
  const read = useMutation({
    mutationFn: (picked: File) => readRows(picked, limits?.maxBatchItems ?? 0),
    onMutate: () => setFile(undefined),
    onSuccess: setFile,
  });
  return (
    <Page title="New batch" lead="One PDF for each row of a file, from a template.">
      <Card title="Template and file">
        <TemplateChoice value={templateId} onChange={(id) => setFilters({ template: id })} />
        {template.error !== null && <ErrorNote error={template.error} retry={template.refetch} />}
        {limits !== undefined && (
          <FileDrop
            label="File with the data"
            hint="Pick a file or drop it here: CSV with the names of the columns in the first row, a JSON array of objects, or JSON lines."
            accept=".csv,.tsv,.txt,.json,.jsonl,.ndjson,text/csv,application/json"
            name={read.variables?.name}
            onFile={(picked) => read.mutate(picked)}
          />
        )}
        {read.isPending && <p role="status">Reading the file …</p>}
        <Problem error={read.error} />
        {file !== undefined && limits !== undefined && file.total > limits.maxBatchItems && (
          <p className="note error" role="alert">
            {file.name} has {counted(file.total, 'row')}, and your plan takes{' '}
            {counted(limits.maxBatchItems, 'document')} in a batch. Split the file into smaller ones.{' '}
            <IfMaySee page="/billing">
              <Link href="/billing">See larger plans</Link>
            </IfMaySee>
          </p>
        )}
      </Card>
      {file !== undefined && template.data !== undefined && limits !== undefined && (
        <Prepared
          key={`${template.data.versionId} ${read.submittedAt}`}
          file={file}
          template={template.data}
          limits={limits}
        />
      )}
    </Page>
  );
}

interface Limits {
  readonly maxBatchItems: number;
  readonly maxInputSizeBytes: number;
}

function useLimits(): Limits | undefined {
  const plans = useQuery({ queryKey: ['plans'], queryFn: () => call(api.GET('/user/plans')) });
  return plans.data?.plans.find(({ current }) => current)?.limits;
}

interface Template {
  readonly id: string;
  readonly content: string;
  readonly sampleData: string;
}

/** What becomes of the rows: which column fills in what, the first documents, and the batch. */
function Prepared({ file, template, limits }: { file: RowFile; template: Template; limits: Limits }) {
  const [, navigate] = useLocation();
  const variables = useMemo(() => found(() => variablesOf(template.content)), [template]);
  const paths = Array.isArray(variables) ? variables : [];
  const [mapping, setMapping] = useState(() => guessMapping(file.columns, paths));
  const [notes, setNotes] = useState(file.name);
  const [mode, setMode] = useState<Mode>('test');
  const items = useMemo(
    () => found(() => itemsOf(file, mapping, template.id, sampleOf(template))),
    [file, mapping, template],
  );
  const problem = problemOf(items, file, limits);
  const create = useMutation({
    async mutationFn({ key, items, ...rest }: { items: Item[]; notes: string; mode: Mode; key: string }) {
      const body = isListed(items, limits)
        ? { items, ...rest }
        : { ...rest, ...(await sourceOf(items, rest)) };
      return await call(api.POST('/user/batches', { body, params: { header: { 'Idempotency-Key': key } } }));
    },
    onSuccess: ({ jobId }) => navigate(`/batches/${jobId}`),
  });
  // Pressed again after the connection was lost, it is the same request, and makes no second batch.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one for another request
  const key = useMemo(newKey, [items, notes, mode]);
  return (
    <>
      <Card title="Columns">
        {variables instanceof Error ? (
          <Problem error={new FileProblem([`The template has an error: ${variables.message}`])} />
        ) : (
          <ColumnMapping file={file} variables={variables} mapping={mapping} onChange={setMapping} />
        )}
        {items instanceof Error && <Problem error={items} />}
      </Card>
      {Array.isArray(items) && <Proof key={JSON.stringify(mapping)} items={items.slice(0, PROOFS)} />}
      <Card title="Batch">
        <div className="filters">
          <TextField label="Name of the batch" value={notes} maxLength={200} onChange={setNotes} />
          <Select
            label="Mode"
            value={mode}
            options={[
              ['test', 'Test'],
              ['live', 'Live (uses your quota)'],
            ]}
            onChange={(value) => setMode(value || 'test')}
          />
        </div>
        {mode === 'live' && <ConfirmationNeeded />}
        {problem !== undefined && <p className="note error">{problem}</p>}
        <Problem error={create.error && named(create.error, file, mapping)} />
        {Array.isArray(items) && problem === undefined && !isListed(items, limits) && (
          <p className="quiet">
            The first {number(FIRST)} are rendered as a proof. The others wait until you release the batch.
          </p>
        )}
        <Button
          kind="primary"
          busy={create.isPending}
          disabled={!Array.isArray(items) || problem !== undefined}
          onClick={() => Array.isArray(items) && create.mutate({ items, notes, mode, key })}
        >
          Render {counted(file.total, 'document')}
        </Button>
      </Card>
    </>
  );
}

/** Renders the first rows as tests, before all are. */
function Proof({ items }: { items: readonly Item[] }) {
  const prove = useMutation({
    mutationFn: () =>
      Promise.all(
        items.map(async ({ id, ...item }) => {
          const body = { ...item, mode: 'test' as const };
          return { id, jobId: (await call(api.POST('/user/renders', { body }))).jobId };
        }),
      ),
  });
  return (
    <Card title="Proof">
      <p className="quiet">
        Test renders of the first {counted(items.length, 'row')}. They do not count against your quota.
      </p>
      {prove.error !== null && <ErrorNote error={prove.error} />}
      <Button busy={prove.isPending} onClick={() => prove.mutate()}>
        Render the first {number(items.length)}
      </Button>
      <div className="proofs">
        {prove.data?.map(({ id, jobId }) => (
          <section key={jobId}>
            <h3>
              <bdi>{id}</bdi>
            </h3>
            <RenderOutcome id={jobId} />
          </section>
        ))}
      </div>
    </Card>
  );
}

function Problem({ error }: { error: Error | null }) {
  if (error === null) return null;
  if (!(error instanceof FileProblem)) return <ErrorNote error={error} />;
  return (
    <ul className="note error" role="alert">
      {error.problems.map((problem) => (
        <li key={problem}>
          <bdi>{problem}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** Why the batch cannot be asked for, before it is. */
function problemOf(
  items: readonly Item[] | Error,
  { total }: RowFile,
  { maxBatchItems }: Limits,
): string | undefined {
  if (items instanceof Error) return undefined;
  if (total > maxBatchItems) return `Your plan takes ${counted(maxBatchItems, 'document')} in a batch.`;
  if (total < 2) return 'A batch has at least 2 documents. Use the playground for a single one.';
  return undefined;
}

type Mode = 'test' | 'live';

/** Whether one request can list the items. */
function isListed(items: readonly Item[], { maxInputSizeBytes }: Limits): boolean {
  return items.length <= LISTED && new Blob([JSON.stringify(items)]).size <= maxInputSizeBytes / 2;
}

/** Uploads the items, of which the first are rendered as a proof. */
async function sourceOf(items: readonly Item[], { mode }: { readonly mode: Mode }) {
  const { id: upload } = await call(
    api.POST('/user/batches/uploads', {
      params: { query: { mode } },
      // The type of the body is that of a text, whatever holds it.
      body: fileOf(items) as unknown as string,
      bodySerializer: (file) => file,
      headers: { 'Content-Type': 'application/x-ndjson' },
    }),
  );
  const { templateId } = items[0]!;
  const source = { upload, format: 'ndjson' as const, templateId: templateId!, ...LINE_FIELDS };
  return { source, proof: FIRST };
}

/** An error of the service, with the rows and columns that it is about. */
function named(error: Error, { rows }: RowFile, mapping: Mapping): Error {
  if (!(error instanceof ApiError) || !error.problems.some((each) => each.startsWith('items['))) return error;
  return new FileProblem(error.problems.map((each) => inFile(each, rows, mapping)));
}

function found<Value>(find: () => Value): Value | Error {
  try {
    return find();
  } catch (error) {
    return error as Error;
  }
}

function sampleOf({ sampleData }: Template): unknown {
  return found(() => JSON.parse(sampleData || '{}'));
}

/** Also where the page does not come by HTTPS, and the browser makes no UUIDs. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((each) => each.toString(16).padStart(2, '0'))
    .join('');
}
