import { useQuery } from '@tanstack/react-query';
import { Field } from '../ui/field.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';

/** What of a JSON Schema the form is made from. */
interface OptionSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OptionSchema>>;
  readonly $ref?: string;
  readonly allOf?: readonly OptionSchema[];
  readonly anyOf?: readonly OptionSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
}

interface ApiDocument {
  readonly paths: Readonly<
    Record<string, { post: { requestBody: { content: Readonly<Record<string, { schema: OptionSchema }>> } } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, OptionSchema>> };
}

/** Values of options as they were typed; what is empty is not sent. */
export type OptionTexts = Readonly<Record<string, string>>;

/** Every option there is, by a form that is made from the document of the API: there is no list here to forget. */
export function OptionForm({
  texts,
  search,
  onChange,
}: {
  texts: OptionTexts;
  search: string;
  onChange: (texts: OptionTexts) => void;
}) {
  const options = useQuery({
    queryKey: ['options'],
    queryFn: fetchOptions,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (options.error !== null) return <ErrorNote error={options.error} retry={options.refetch} />;
  if (options.data === undefined) return <Loading />;
  const wanted = search.trim().toLowerCase();
  const shown = Object.entries(options.data).filter(
    ([name, { description = '' }]) => `${name} ${description}`.toLowerCase().includes(wanted) || texts[name],
  );
  return (
    <div className="options">
      {shown.map(([name, schema]) => (
        <Field key={name} label={name} hint={schema.description}>
          {(id, hint) => (
            <Control
              id={id}
              hint={hint}
              schema={schema}
              value={texts[name] ?? ''}
              onChange={(value) => onChange({ ...texts, [name]: value })}
            />
          )}
        </Field>
      ))}
      {shown.length === 0 && <p className="quiet">No option has this in its name or description.</p>}
    </div>
  );
}

function Control({
  id,
  hint,
  schema,
  value,
  onChange,
}: {
  id: string;
  hint: string | undefined;
  schema: OptionSchema;
  value: string;
  onChange: (value: string) => void;
}) {
  const choices = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
  const common = { id, 'aria-describedby': hint, value };
  if (choices !== undefined)
    return (
      <select {...common} onChange={(event) => onChange(event.target.value)}>
        <option value="">as by default</option>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  if (schema.type === 'integer' || schema.type === 'number')
    return (
      <input
        {...common}
        type="number"
        step={schema.type === 'integer' ? 1 : 'any'}
        min={schema.minimum}
        max={schema.maximum}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  if (schema.type === 'string')
    return <input {...common} onChange={(event) => onChange(event.target.value)} />;
  return (
    <textarea
      {...common}
      rows={2}
      placeholder={schema.type === 'array' ? '[ … ] as JSON' : '{ … } as JSON'}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/**
 * The options as they are sent. Numbers, lists and objects are read as JSON; what is none is sent as it stands, and the
 * service says what is wrong with it.
 */
export function optionsOf(texts: OptionTexts): Record<string, unknown> {
  const given = Object.entries(texts).filter(([, text]) => text.trim() !== '');
  return Object.fromEntries(given.map(([name, text]) => [name, readValue(text)]));
}

/** The form's texts for options that are known, as those of an earlier render are. */
export function textsOf(options: Readonly<Record<string, unknown>>): OptionTexts {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

function readValue(text: string): unknown {
  if (!/^(true|false|-?\d+(\.\d+)?|[[{].*)$/s.test(text.trim())) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function fetchOptions(): Promise<Readonly<Record<string, OptionSchema>>> {
  const response = await fetch('/openapi.json');
  const document = (await response.json()) as ApiDocument;
  const body = document.paths['/user/renders']!.post.requestBody.content['application/json']!.schema;
  const found = propertiesOf(body, document).options;
  return found === undefined ? {} : propertiesOf(found, document);
}

function propertiesOf(schema: OptionSchema, document: ApiDocument): Readonly<Record<string, OptionSchema>> {
  const { $ref, allOf = [], anyOf = [], properties = {} } = schema;
  const referred = $ref === undefined ? undefined : document.components.schemas[$ref.split('/').at(-1)!];
  const subschemas = [...(referred === undefined ? [] : [referred]), ...allOf, ...anyOf];
  return Object.assign({}, ...subschemas.map((part) => propertiesOf(part, document)), properties);
}
