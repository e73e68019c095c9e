import { useQuery } from '@tanstack/react-query';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { OptionControl, type OptionSchema } from './option-control.tsx';

interface ApiDocument {
  readonly paths: Readonly<
    Record<string, { post: { requestBody: { content: Readonly<Record<string, { schema: OptionSchema }>> } } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, OptionSchema>> };
}

/** Every option there is, by a form that is made from the document of the API: there is no list here to forget. */
export function OptionForm({
  values,
  search,
  onChange,
}: {
  /** As they are sent; what is not here is not sent. */
  values: Readonly<Record<string, unknown>>;
  search: string;
  onChange: (values: Readonly<Record<string, unknown>>) => void;
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
    ([name, { description = '' }]) =>
      `${name} ${description}`.toLowerCase().includes(wanted) || name in values,
  );
  return (
    <div className="options">
      {shown.map(([name, schema]) => (
        <OptionControl
          key={name}
          name={name}
          schema={schema}
          value={values[name]}
          onChange={(value) => {
            const { [name]: _, ...others } = values;
            onChange(value === undefined ? others : { ...others, [name]: value });
          }}
        />
      ))}
      {shown.length === 0 && <p className="quiet">No option has this in its name or description.</p>}
    </div>
  );
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
