import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call, sentence } from '../api.ts';
import { counted } from '../format.ts';
import { LIVE } from '../live.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { toast } from '../ui/toasts.tsx';

interface Row {
  readonly jobId: string;
  readonly status: string;
}
type Act = 'cancel' | 'retry';

/** What each act is for: others it could not be done to. */
const FOR: Readonly<Record<Act, readonly string[]>> = {
  cancel: ['queued', 'processing'],
  retry: ['failed', 'cancelled'],
};
const WORDS = {
  cancel: {
    button: 'Cancel',
    title: (of: string) => `Cancel ${of}?`,
    text: 'Renders that are running are stopped. You can retry them later.',
    done: 'cancelled',
  },
  retry: {
    button: 'Retry',
    title: (of: string) => `Retry ${of}?`,
    text: 'Each becomes a new render. Live renders count against your quota.',
    done: 'retried',
  },
} as const;

/** Cancels or retries those of the selected renders that can be, once that has been confirmed. */
export function Selected({ renders, done }: { renders: readonly Row[]; done: () => void }) {
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Act>();
  const [busy, setBusy] = useState(false);
  const idsFor = (act: Act) =>
    renders.filter(({ status }) => FOR[act].includes(status)).map(({ jobId }) => jobId);
  const perform = async (act: Act) => {
    setBusy(true);
    const ids = idsFor(act);
    const problems = new Set<string>();
    let count = 0;
    for (const id of ids) {
      const params = { params: { path: { id } } };
      try {
        if (act === 'cancel') await call(api.DELETE('/user/renders/{id}', params));
        else await call(api.POST('/user/renders/{id}/retry', params));
        count += 1;
      } catch (error) {
        problems.add(sentence(error));
      }
    }
    setBusy(false);
    setAsked(undefined);
    toast(
      [`${count} of ${counted(ids.length, 'render')} ${WORDS[act].done}.`, ...problems].join(' '),
      problems.size > 0,
    );
    done();
    void queries.invalidateQueries({ queryKey: [LIVE] });
  };
  if (renders.length === 0) return null;
  return (
    <div className="actions">
      <span className="quiet">{renders.length} selected</span>
      {(['cancel', 'retry'] as const).map((act) => {
        const { length } = idsFor(act);
        return (
          length > 0 && (
            <Button key={act} onClick={() => setAsked(act)}>
              {WORDS[act].button} {length}
            </Button>
          )
        );
      })}
      {renders.length === 2 && renders.every(({ status }) => status === 'completed') && (
        <Link className="button plain" href={`/compare?a=${renders[1]?.jobId}&b=${renders[0]?.jobId}`}>
          Compare
        </Link>
      )}
      <Button onClick={done}>Clear selection</Button>
      {asked !== undefined && (
        <Dialog
          title={WORDS[asked].title(counted(idsFor(asked).length, 'render'))}
          open
          onClose={() => setAsked(undefined)}
        >
          <p>{WORDS[asked].text}</p>
          <Button
            kind={asked === 'cancel' ? 'danger' : 'primary'}
            busy={busy}
            onClick={() => void perform(asked)}
          >
            {WORDS[asked].button} {counted(idsFor(asked).length, 'render')}
          </Button>
        </Dialog>
      )}
    </div>
  );
}
