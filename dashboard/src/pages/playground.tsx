import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmationNeeded } from '../ui/confirm-address.tsx';
import { CtrlEnter } from '../ui/ctrl-enter.tsx';
import { Editor } from '../ui/editor.tsx';
import { Select, TextField } from '../ui/field.tsx';
import { Card, Page } from '../ui/page.tsx';
import { RenderOutcome } from '../ui/render-outcome.tsx';
import { RequestTabs } from '../ui/request-tabs.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { OptionForm, type OptionTexts, optionsOf, textsOf } from './option-form.tsx';

type Source = 'html' | 'url' | 'templateId';

const EXAMPLE = `<!doctype html>
<style>body { font-family: sans-serif }</style>
<h1>Invoice 2026-001</h1>
<p>Thank you for your order.</p>`;

export default function Playground() {
  const [params] = useSearchParams();
  const [source, setSource] = useState<Source>(params.has('template') ? 'templateId' : 'html');
  const [inputs, setInputs] = useState({
    html: EXAMPLE,
    url: '',
    templateId: params.get('template') ?? '',
    data: '{}',
  });
  const [texts, setTexts] = useState<OptionTexts>({});
  const [search, setSearch] = useState('');
  const [mode, setMode] = useState<'test' | 'live'>('test');
  const earlier = useEarlier(params.get('render'));
  useEffect(() => {
    if (earlier === undefined) return;
    setSource(earlier.html !== undefined ? 'html' : earlier.url !== undefined ? 'url' : 'templateId');
    setInputs((before) => ({
      html: earlier.html ?? before.html,
      url: earlier.url ?? before.url,
      templateId: earlier.templateId ?? before.templateId,
      data: JSON.stringify(earlier.data ?? {}, null, 2),
    }));
    setTexts(textsOf(earlier.options));
  }, [earlier]);
  const body = requestOf(source, inputs, texts);
  const run = useMutation({
    mutationFn: () =>
      call(api.POST('/user/renders', { body: { ...body, mode } as Schemas['UserRenderRequest'] })),
  });
  const start = () => {
    if (!run.isPending) run.mutate();
  };
  return (
    <Page
      title="Playground"
      lead="Renders what you type. A test render has a watermark and counts for nothing."
      actions={
        <Button kind="primary" busy={run.isPending} onClick={start}>
          Render <kbd>Ctrl Enter</kbd>
        </Button>
      }
    >
      {mode === 'live' && <ConfirmationNeeded />}
      <CtrlEnter onPress={start}>
        <div>
          <Card>
            <div className="filters">
              <Select
                label="From"
                value={source}
                options={[
                  ['html', 'HTML'],
                  ['url', 'an address'],
                  ['templateId', 'a template'],
                ]}
                onChange={(value) => setSource(value || 'html')}
              />
              <Select
                label="Mode"
                value={mode}
                options={[
                  ['test', 'test'],
                  ['live', 'live: counts'],
                ]}
                onChange={(value) => setMode(value || 'test')}
              />
            </div>
            <SourceFields source={source} inputs={inputs} onChange={setInputs} />
          </Card>
          <Card title="Options">
            <TextField label="Find an option" type="search" value={search} onChange={setSearch} />
            <OptionForm texts={texts} search={search} onChange={setTexts} />
          </Card>
        </div>
        <div>
          <Card title="PDF">
            {run.error !== null && <ErrorNote error={run.error} />}
            {run.data === undefined ? (
              <p className="quiet">It is shown here.</p>
            ) : (
              <RenderOutcome id={run.data.jobId} />
            )}
          </Card>
          <Card title="The same with an API key">
            <RequestTabs body={body} />
          </Card>
        </div>
      </CtrlEnter>
    </Page>
  );
}

type Inputs = { html: string; url: string; templateId: string; data: string };

function SourceFields({
  source,
  inputs,
  onChange,
}: {
  source: Source;
  inputs: Inputs;
  onChange: (inputs: Inputs) => void;
}) {
  const templates = useQuery({
    queryKey: ['templates', 'choice'],
    queryFn: () => call(api.GET('/user/templates', { params: { query: { view: 'summary', limit: 100 } } })),
    enabled: source === 'templateId',
  });
  if (source === 'html')
    return (
      <Editor
        label="HTML"
        language="liquid"
        size="large"
        value={inputs.html}
        onChange={(value) => onChange({ ...inputs, html: value })}
      />
    );
  if (source === 'url')
    return (
      <TextField
        label="Address"
        hint="A page that the service can reach, with http:// or https://."
        type="url"
        value={inputs.url}
        onChange={(value) => onChange({ ...inputs, url: value })}
      />
    );
  const choices = templates.data?.templates ?? [];
  return (
    <>
      <Select
        label="Template"
        value={inputs.templateId}
        options={[
          ['', choices.length === 0 ? 'none saved yet' : 'choose one'],
          ...choices.map(({ id, name }) => [id, name] as const),
        ]}
        onChange={(templateId) => onChange({ ...inputs, templateId })}
      />
      <Editor
        label="Data"
        hint="JSON, which fills the template in."
        language="json"
        value={inputs.data}
        onChange={(value) => onChange({ ...inputs, data: value })}
      />
    </>
  );
}

/** What a render was asked for, to be changed and asked for again. */
function useEarlier(id: string | null) {
  const input = useQuery({
    queryKey: ['input', id],
    queryFn: () => call(api.GET('/user/renders/{id}/input', { params: { path: { id: id ?? '' } } })),
    enabled: id !== null,
  });
  return input.data;
}

function requestOf(source: Source, inputs: Inputs, texts: OptionTexts): Record<string, unknown> {
  const options = optionsOf(texts);
  return {
    [source]: inputs[source],
    ...(source === 'templateId' && { data: dataOf(inputs.data) }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}

/** The service says what is wrong with data that is no JSON. */
function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
