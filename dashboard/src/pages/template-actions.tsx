import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, call } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextArea } from '../ui/field.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { toastError } from '../ui/toasts.tsx';
import { Compared } from './compared.tsx';
import type { Fields, Template, TemplateDraft } from './template-fields.ts';

/** Makes a draft the version that renders use, with what its author says of it. */
export function Publish({
  version,
  disabled,
  publishes,
}: {
  /** The present one. */
  version: number;
  disabled: boolean;
  publishes: (message: string) => Promise<unknown>;
}) {
  const [asks, setAsks] = useState(false);
  const [message, setMessage] = useState('');
  const publish = useMutation({
    mutationFn: () => publishes(message),
    onSuccess: () => {
      setAsks(false);
      setMessage('');
    },
  });
  return (
    <>
      <Button
        kind="primary"
        disabled={disabled}
        onClick={() => {
          publish.reset();
          setAsks(true);
        }}
      >
        Publish
      </Button>
      <Dialog title={`Publish version ${version + 1}?`} open={asks} onClose={() => setAsks(false)}>
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            publish.mutate();
          }}
        >
          <p>Renders that pin no other version use it from then on.</p>
          <TextArea
            label="What has changed?"
            hint="Shown in the version history, with your name. You may leave it empty."
            maxLength={500}
            rows={3}
            value={message}
            onChange={setMessage}
          />
          {publish.error !== null && <ErrorNote error={publish.error} />}
          <Button kind="primary" type="submit" busy={publish.isPending}>
            Publish version {version + 1}
          </Button>
        </form>
      </Dialog>
    </>
  );
}

/** Another tab or person has saved the template or its draft since this page began to change it. */
export function Overtaken({
  template,
  draft,
  fields,
  onTake,
  onKeep,
}: {
  template: Template;
  draft: TemplateDraft | null;
  fields: Fields;
  onTake: () => void;
  onKeep: () => void;
}) {
  const [compares, setCompares] = useState(false);
  const there = draft ?? template;
  const what =
    draft === null
      ? `Version ${template.version} was published`
      : draft.baseVersionId === template.versionId
        ? `A draft was saved${draft.author === null ? '' : ` by ${draft.author}`}`
        : `Version ${template.version} was published, and there is a draft of an earlier one,`;
  return (
    <div className="note error" role="alert">
      <p>{what} after you started. Your changes are here, and are not saved.</p>
      <div className="actions">
        <Button onClick={() => setCompares(true)}>Compare</Button>
        <Button onClick={onKeep}>Keep mine</Button>
        <Button onClick={onTake}>Discard mine and load what is saved</Button>
      </div>
      <Dialog wide title="Your changes and what is saved" open={compares} onClose={() => setCompares(false)}>
        <Compared
          texts={[
            ['Yours', fields.content],
            [draft === null ? `Version ${template.version}` : 'The draft', there.content],
          ]}
        />
      </Dialog>
    </div>
  );
}

/** Takes the draft away, so that the page is about the published version again. */
export function DiscardDraft({ discards }: { discards: () => Promise<unknown> }) {
  const [asks, setAsks] = useState(false);
  const discard = useMutation({ mutationFn: discards, onSuccess: () => setAsks(false), onError: toastError });
  return (
    <>
      <Button onClick={() => setAsks(true)}>Discard draft</Button>
      <Dialog title="Discard the draft?" open={asks} onClose={() => setAsks(false)}>
        <p>The published version stays as it is. The draft cannot be brought back.</p>
        <Button kind="danger" busy={discard.isPending} onClick={() => discard.mutate()}>
          Discard
        </Button>
      </Dialog>
    </>
  );
}

export function Remove({ id, name }: { id: string; name: string }) {
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const [asks, setAsks] = useState(false);
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/user/templates/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['templates'] });
      navigate('/templates');
    },
    onError: toastError,
  });
  return (
    <>
      <Button kind="danger" icon={Trash2} onClick={() => setAsks(true)}>
        Delete
      </Button>
      <Dialog title="Delete this template?" open={asks} onClose={() => setAsks(false)}>
        <p>
          <bdi>{name}</bdi> and all its versions will be deleted, and renders that use it will fail. This
          cannot be undone.
        </p>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          Delete template
        </Button>
      </Dialog>
    </>
  );
}
