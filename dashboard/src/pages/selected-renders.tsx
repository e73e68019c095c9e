import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ban, Download, GitCompareArrows, RotateCw, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { paths } from '../../../clients/typescript/src/generated/schema.ts';
import { ApiError, api, call, sentence } from '../api.ts';
import { counted, number } from '../format.ts';
import { LIVE } from '../live.ts';
import { mayDevelop } from '../roles.ts';
import { useAccount } from '../session.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { toast, toastError } from '../ui/toasts.tsx';

interface Row {
  readonly jobId: string;
  readonly status: string;
  readonly outputAvailable: boolean;
}
type Act = 'cancel' | 'retry';

/** What each act is for: others it could not be done to. */
const FOR: Readonly<Record<Act, readonly string[]>> = {
  cancel: ['queued', 'processing'],
  retry: ['failed', 'cancelled'],
};
const ICONS = { cancel: Ban, retry: RotateCw } as const;
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

/** Renders that are acted on at once; more are found again by the same filters. */
const MOST_AT_ONCE = 500;
/** Rows that the service lists at once. */
const PAGE = 100;
/** PDFs in one zip. */
const MOST_ZIPPED = 100;
/** How long a plan's rate is waited for at most, in seconds. */
const MOST_WAIT_SECONDS = 60;

type ListQuery = NonNullable<paths['/user/renders']['get']['parameters']['query']>;

/**
 * Cancels, retries or downloads those of the selected renders that can be, once that has been confirmed.
 *
 * @param matching all that match the filters of the list, where they are more than what is selected of it.
 */
export function Selected({
  renders: onPage,
  matching,
  done,
}: {
  renders: readonly Row[];
  matching: { readonly total: number; readonly query: ListQuery } | undefined;
  done: () => void;
}) {
  const queries = useQueryClient();
  const { role } = useAccount();
  const [gathered, setGathered] = useState<readonly Row[]>();
  const [progress, setProgress] = useState(0);
  const stopped = useRef(false);
  const renders = (onPage.length > 0 ? gathered : undefined) ?? onPage;
  const pageIds = onPage.map(({ jobId }) => jobId).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another selection begins anew
  useEffect(() => setGathered(undefined), [pageIds]);
  const gather = useMutation({
    mutationFn: async (query: ListQuery) => {
      const found = new Map<string, Row>();
      for (let offset = 0; offset < MOST_AT_ONCE; offset += PAGE) {
        const params = { params: { query: { ...query, limit: PAGE, offset } } };
        const page = await call(api.GET('/user/renders', params));
        for (const row of page.renders) found.set(row.jobId, row);
        if (page.renders.length < PAGE) break;
      }
      return [...found.values()];
    },
    onSuccess: setGathered,
    onError: toastError,
  });
  /** What is to be confirmed: of the renders that were selected then, for the list goes on meanwhile. */
  const [asked, setAsked] = useState<{ readonly act: Act; readonly ids: readonly string[] }>();
  const [busy, setBusy] = useState(false);
  const idsFor = (act: Act) =>
    renders.filter(({ status }) => FOR[act].includes(status)).map(({ jobId }) => jobId);
  const perform = async ({ act, ids }: NonNullable<typeof asked>) => {
    setBusy(true);
    const problems = new Set<string>();
    let count = 0;
    stopped.current = false;
    for (const [i, id] of ids.entries()) {
      if (stopped.current) break;
      setProgress(i);
      try {
        await once(act, id);
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
  if (renders.length === 0 && asked === undefined) return null;
  const withPdf = renders.filter(({ outputAvailable }) => outputAvailable).slice(0, MOST_ZIPPED);
  const isAll = gathered !== undefined;
  return (
    <div className="actions selected">
      <span className="quiet">{number(renders.length)} selected</span>
      {matching !== undefined && !isAll && (
        <Button busy={gather.isPending} onClick={() => gather.mutate(matching.query)}>
          {matching.total > MOST_AT_ONCE
            ? `Select the first ${MOST_AT_ONCE} of ${number(matching.total)}`
            : `Select all ${number(matching.total)} that match`}
        </Button>
      )}
      {(mayDevelop(role) ? (['cancel', 'retry'] as const) : []).map((act) => {
        const { length } = idsFor(act);
        return (
          length > 0 && (
            <Button key={act} icon={ICONS[act]} onClick={() => setAsked({ act, ids: idsFor(act) })}>
              {WORDS[act].button} {length}
            </Button>
          )
        );
      })}
      {renders.length === 2 && renders.every(({ status }) => status === 'completed') && (
        <Link className="button plain" href={`/compare?a=${renders[1]?.jobId}&b=${renders[0]?.jobId}`}>
          <Icon of={GitCompareArrows} /> Compare
        </Link>
      )}
      {withPdf.length > 0 && (
        <a
          className="button plain"
          href={`/user/renders/zip?ids=${withPdf.map(({ jobId }) => jobId).join()}`}
          download
        >
          <Icon of={Download} />{' '}
          {withPdf.length === MOST_ZIPPED
            ? `Download the first ${MOST_ZIPPED} as ZIP`
            : `Download ${withPdf.length} as ZIP`}
        </a>
      )}
      <Button icon={X} onClick={done}>
        Clear selection
      </Button>
      {asked !== undefined && (
        <Dialog
          title={WORDS[asked.act].title(counted(asked.ids.length, 'render'))}
          open
          onClose={() => {
            stopped.current = true;
            setAsked(undefined);
          }}
        >
          <p>{WORDS[asked.act].text}</p>
          {busy && (
            <p role="status">
              {number(progress)} of {number(asked.ids.length)} done. Closing stops here.
            </p>
          )}
          <Button
            kind={asked.act === 'cancel' ? 'danger' : 'primary'}
            busy={busy}
            onClick={() => void perform(asked)}
          >
            {WORDS[asked.act].button} {counted(asked.ids.length, 'render')}
          </Button>
        </Dialog>
      )}
    </div>
  );
}

/** Acts on one render; where the plan's rate is used up, once it allows more. */
async function once(act: Act, id: string): Promise<void> {
  const path = { id };
  for (;;) {
    try {
      if (act === 'cancel') await call(api.DELETE('/user/renders/{id}', { params: { path } }));
      // The same render is retried once, however often this is begun.
      else {
        const header = { 'Idempotency-Key': `retry-${id}` };
        await call(api.POST('/user/renders/{id}/retry', { params: { path, header } }));
      }
      return;
    } catch (error) {
      const seconds = error instanceof ApiError && error.status === 429 ? error.retryAfterSeconds : undefined;
      if (seconds === undefined || seconds > MOST_WAIT_SECONDS) throw error;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}
