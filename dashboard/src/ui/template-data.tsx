import { useEffect, useState } from 'react';
import { counted } from '../format.ts';

/** After the last key, in milliseconds: a long template is not parsed at each. */
const AFTER_MS = 300;

interface Found {
  readonly variables: readonly { readonly path: string; readonly isMissing: boolean }[];
  /** Why the template or the data cannot be read. */
  readonly problem?: string;
}

/** What a template takes from its data, with what is not there marked: it would be empty in the PDF. */
export function TemplateData({ content, data }: { content: string; data: string }) {
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(async () => {
      // Loaded where it is used: it has the parser of templates.
      const { variablesOf, valueAt } = await import('../batch/template-variables.ts').catch(() => ({
        variablesOf: undefined,
        valueAt: undefined,
      }));
      if (!isOver && variablesOf !== undefined) setFound(read(content, data, variablesOf, valueAt));
    }, AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [content, data]);
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

type Reader = typeof import('../batch/template-variables.ts');

function read(
  content: string,
  data: string,
  variablesOf: Reader['variablesOf'],
  valueAt: Reader['valueAt'],
): Found {
  let paths: string[];
  try {
    paths = variablesOf(content);
  } catch (error) {
    return { variables: [], problem: `The template: ${(error as Error).message}` };
  }
  try {
    const given: unknown = JSON.parse(data.trim() || '{}');
    return {
      variables: paths.map((path) => ({ path, isMissing: valueAt(given, path) === undefined })),
    };
  } catch (error) {
    const variables = paths.map((path) => ({ path, isMissing: false }));
    return { variables, problem: `The data are not JSON: ${(error as Error).message}` };
  }
}
