import { useQuery } from '@tanstack/react-query';
import { OPTION_SECTIONS } from '../../../scripts/docs-pages/option-sections.ts';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { OptionControl, type OptionSchema } from './option-control.tsx';

interface ApiDocument {
  readonly paths: Readonly<
    Record<string, { post: { requestBody: { content: Readonly<Record<string, { schema: OptionSchema }>> } } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, OptionSchema>> };
}
type Options = Readonly<Record<string, OptionSchema>>;

/** Groups that are open at first: what most documents need. */
const OPEN = 2;
/** For options that the documentation has no group for. */
const OTHERS = 'Others';

/**
 * Every option there is, in the groups of the documentation, by a form that is made from the document of the API: there is no
 * list here to forget.
 */
export function OptionForm({
  values,
  search,
  without,
  onChange,
}: {
  /** As they are sent; what is not here is not sent. */
  values: Readonly<Record<string, unknown>>;
  search: string;
  /** Options that cannot be chosen here. */
  without?: ReadonlySet<string>;
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
  const isShown = ([name, { description = '' }]: readonly [string, OptionSchema]) =>
    without?.has(name) !== true &&
    (`${name} ${description}`.toLowerCase().includes(wanted) || name in values);
  const groups = groupsOf(options.data)
    .map(({ title, options }) => ({ title, options: options.filter(isShown) }))
    .filter((group) => group.options.length > 0);
  return (
    <>
      {groups.map(({ title, options }, i) => {
        const given = options.filter(([name]) => name in values).length;
        return (
          <details
            // Opened by what is looked for; by hand otherwise.
            key={`${title} ${wanted !== ''}`}
            className="option-group"
            open={wanted !== '' || i < OPEN || given > 0 || undefined}
          >
            <summary>
              {title}
              {given > 0 && <span className="badge calm">{given} set</span>}
            </summary>
            <div className="options">
              {options.map(([name, schema]) => (
                <OptionControl
                  key={name}
                  name={name}
                  schema={schema}
                  documentation={`/docs/options/#${name.toLowerCase()}`}
                  value={values[name]}
                  onChange={(value) => {
                    const { [name]: _, ...others } = values;
                    onChange(value === undefined ? others : { ...others, [name]: value });
                  }}
                />
              ))}
            </div>
          </details>
        );
      })}
      {groups.length === 0 && <p className="quiet">No option has this in its name or description.</p>}
    </>
  );
}

function groupsOf(options: Options) {
  const grouped = OPTION_SECTIONS.map(({ title, options: named }) => ({
    title,
    options: Object.keys(named).flatMap((name) => (options[name] ? [[name, options[name]] as const] : [])),
  }));
  const known = new Set(grouped.flatMap((group) => group.options.map(([name]) => name)));
  const others = Object.entries(options).filter(([name]) => !known.has(name));
  return [...grouped, { title: OTHERS, options: others }];
}

async function fetchOptions(): Promise<Options> {
  const response = await fetch('/openapi.json');
  const document = (await response.json()) as ApiDocument;
  const body = document.paths['/user/renders']!.post.requestBody.content['application/json']!.schema;
  const found = propertiesOf(body, document).options;
  return found === undefined ? {} : propertiesOf(found, document);
}

function propertiesOf(schema: OptionSchema, document: ApiDocument): Options {
  const { $ref, allOf = [], anyOf = [], properties = {} } = schema;
  const referred = $ref === undefined ? undefined : document.components.schemas[$ref.split('/').at(-1)!];
  const subschemas = [...(referred === undefined ? [] : [referred]), ...allOf, ...anyOf];
  return Object.assign({}, ...subschemas.map((part) => propertiesOf(part, document)), properties);
}
