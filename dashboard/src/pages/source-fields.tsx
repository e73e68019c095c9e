import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, call } from '../api.ts';
import type { Problem } from '../problems.ts';
import { Editor } from '../ui/editor.tsx';
import { TextField } from '../ui/field.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { TemplateChoice } from '../ui/template-choice.tsx';
import { TemplateData, useTemplateFindings } from '../ui/template-data.tsx';
import type { Experiment } from './experiment.ts';

/** What is rendered: HTML, a web page, or a template with its data. */
export function SourceFields({
  experiment,
  problems,
  onChange,
}: {
  experiment: Experiment;
  /** What its last render has found in the HTML. */
  problems: readonly Problem[];
  onChange: (part: Partial<Experiment>) => void;
}) {
  if (experiment.source === 'html')
    return (
      <Editor
        label="HTML"
        takesFiles
        language="liquid"
        size="large"
        value={experiment.html}
        problems={problems}
        onChange={(html) => onChange({ html })}
      />
    );
  if (experiment.source === 'url')
    return (
      <TextField
        label="Address"
        hint="A page that the service can reach, starting with http:// or https://."
        type="url"
        value={experiment.url}
        onChange={(url) => onChange({ url })}
      />
    );
  return <TemplateFields experiment={experiment} onChange={onChange} />;
}

function TemplateFields({ experiment, onChange }: Omit<Parameters<typeof SourceFields>[0], 'problems'>) {
  const { templateId, data, sampleData } = experiment;
  const chosen = useQuery({
    queryKey: ['template', templateId],
    queryFn: () => call(api.GET('/user/templates/{id}', { params: { path: { id: templateId } } })),
    enabled: templateId !== '',
  });
  const sample = chosen.data?.sampleData;
  const found = useTemplateFindings(chosen.data?.content, data);
  // What somebody has typed stays; the sample of another template does not.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sample of a template that has been chosen
  useEffect(() => {
    if (sample !== undefined && sample !== sampleData)
      onChange({ sampleData: sample, ...(data === sampleData && { data: sample }) });
  }, [sample]);
  return (
    <>
      <TemplateChoice value={templateId} onChange={(id) => onChange({ templateId: id })} />
      {chosen.error !== null && <ErrorNote error={chosen.error} />}
      <Editor
        label="Data"
        hint="JSON that fills in the template; it starts as the template's sample data."
        language="json"
        value={data}
        problems={found?.inData}
        onChange={(text) => onChange({ data: text })}
      />
      <TemplateData found={found} />
    </>
  );
}
