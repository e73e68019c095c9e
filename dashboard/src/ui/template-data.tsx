import { useEffect, useState } from 'react';
import { counted } from '../format.ts';
import { jsonProblem, type Problem, problemsIn } from '../problems.ts';

/** After the last key, in milliseconds: a long template is not parsed at each. */
const AFTER_MS = 300;

export interface TemplateFindings {
  readonly variables: readonly { readonly path: string; readonly isMissing: boolean }[];
  /** Why the template or the data cannot be read. */
  readonly problem?: string;
  /** At the lines of the template, and of the data. */
  readonly inContent: readonly Problem[];
  readonly inData: readonly Problem[];
}

/** What a template takes from its data, and what is wrong in either; undefined until that is known. */
export function useTemplateFindings(content: string | undefined, data: string): TemplateFindings | undefined {
  const [found, setFound] = useState<TemplateFindings>();
  useEffect(() => {
    if (content === undefined) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      // Loaded where it is used: it has the parser of templates.
      const reader = await import('../batch/template-variables.ts').catch(() => undefined);
      if (!isOver && reader !== undefined) setFound(read(content, data, reader));
    }, AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [content, data]);
  return content === undefined ? undefined : found;
}

/** What a template takes from its data, with what is not there marked: it would be empty in the PDF. */
export function TemplateData({ found }: { found: TemplateFindings | undefined }) {
  if (found === undefined) return null;
  const { variables, problem } = found;
  const missing = variables.filter(({ isMissing }) => isMissing).length;
  return (
    <section aria-label="Variables of the template" className="variables">
      {problem !== undefined && (
        <p className="note error">
          <bdi>{problem}</bdi>
        </p>
      )}
      {variables.length > 0 && (
        <>
          <p className={missing > 0 ? 'hint warned' : 'hint'} role="status">
            {counted(variables.length, 'variable')} in the template
            {missing > 0 && `, ${missing} of them missing in the data and empty in the PDF`}.
          </p>
          <ul className="chips">
            {variables.map(({ path, isMissing }) => (
              <li key={path} className={isMissing ? 'badge busy' : 'badge calm'}>
                <bdi>{path}</bdi>
                {isMissing && ': missing'}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** @throws Error for a template or data that cannot be read: the service need not be asked to say so. */
export async function requireReadable(content: string, data: string): Promise<void> {
  const { variablesIn } = await import('../batch/template-variables.ts');
  variablesIn(content);
  const wrong = jsonProblem(data);
  if (wrong !== undefined) throw new Error(`The data are not JSON: ${wrong}`);
}

type Reader = typeof import('../batch/template-variables.ts');

function read(content: string, data: string, { variablesIn, valueAt }: Reader): TemplateFindings {
  const wrongData = jsonProblem(data);
  const inData = wrongData === undefined ? [] : problemsIn(wrongData);
  let used: ReturnType<Reader['variablesIn']>;
  try {
    used = variablesIn(content);
  } catch (error) {
    const { message } = error as Error;
    return { variables: [], problem: `The template: ${message}`, inContent: problemsIn(message), inData };
  }
  if (wrongData !== undefined) {
    const variables = used.map(({ path }) => ({ path, isMissing: false }));
    return { variables, problem: `The data are not JSON: ${wrongData}`, inContent: [], inData };
  }
  const given: unknown = JSON.parse(data.trim() || '{}');
  const isMissing = (path: string) => valueAt(given, path) === undefined;
  const missing = used.filter(({ path }) => isMissing(path));
  return {
    variables: used.map(({ path }) => ({ path, isMissing: isMissing(path) })),
    inContent: missing.map(({ path, line, column }) => ({
      ...{ line, column, severity: 'warning' },
      message: `${path} is not in the data`,
    })),
    inData,
  };
}
