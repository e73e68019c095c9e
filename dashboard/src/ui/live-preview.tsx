import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../api.ts';
import { usePreferences } from '../preferences.ts';
import { LiveHtml } from './live-html.tsx';
import { Card } from './page.tsx';
import { PdfFrame, RenderState, useRender } from './render-outcome.tsx';
import { ErrorNote } from './states.tsx';
import { useWhenRests } from './when-rests.ts';

/** After the last key, in milliseconds. */
const HTML_AFTER_MS = 600;
/** A PDF is a render: it comes once somebody stops to look. */
const PDF_AFTER_MS = 2000;
/** Errors after which no PDF is asked for again by itself. */
const STOPPING: ReadonlySet<string> = new Set([
  'TEST_QUOTA_EXCEEDED',
  'QUOTA_EXCEEDED',
  'STORAGE_FULL',
  'ROLE_NOT_ALLOWED',
]);

export interface MadeHtml {
  readonly html?: string | undefined;
  /** Why it cannot be made now; the one before is still there. */
  readonly error?: unknown;
}

/**
 * The HTML of what is typed, made anew 600 ms after the last key.
 *
 * @param text another one for what has other HTML.
 * @param make undefined where the HTML cannot be known.
 */
export function useLiveHtml(text: string, make: (() => Promise<string>) | undefined): MadeHtml {
  const [made, setMade] = useState<MadeHtml>({});
  const isFirst = useRef(true);
  const canMake = make !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is made is of the text
  useEffect(() => {
    if (make === undefined) return setMade({});
    let isOver = false;
    const timer = setTimeout(
      () =>
        make().then(
          (html) => !isOver && setMade({ html }),
          (error: unknown) => !isOver && setMade((before) => ({ ...before, error })),
        ),
      isFirst.current ? 0 : HTML_AFTER_MS,
    );
    isFirst.current = false;
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text, canMake]);
  return made;
}

/** What is typed, as HTML while it is typed and as the real PDF when it rests. */
export function LivePreview({
  text,
  made,
  options,
  jobId,
  rendered,
  error,
  renders,
  onRest,
}: {
  /** Another one for what has another PDF. */
  text: string;
  made: MadeHtml;
  options: Readonly<Record<string, unknown>>;
  /** The last render. */
  jobId: string | undefined;
  /** The text that it was made of. */
  rendered: string | undefined;
  /** Why there is none. */
  error: unknown;
  /** Whether PDFs come by themselves. */
  renders: boolean;
  onRest: () => void;
}) {
  const [{ preview }, setPreferences] = usePreferences();
  const render = useRender(jobId);
  const isBusy = render.data?.completedAt === null;
  const isStopped = error instanceof ApiError && STOPPING.has(error.code);
  const isWanted = renders && preview !== 'html' && rendered !== text && made.error === undefined;
  useWhenRests(PDF_AFTER_MS, isWanted && !isBusy && !isStopped, text, onRest);
  const last = useLastPdf(jobId, render.data?.outputAvailable === true);
  const isCurrent = last !== undefined && last === jobId && rendered === text;
  const { html } = made;
  const shown =
    preview === 'html' ? 'html' : preview === 'pdf' || html === undefined || isCurrent ? 'pdf' : 'html';
  return (
    <Card
      title="Preview"
      actions={
        <select
          className="own-width"
          aria-label="What the preview shows"
          value={preview}
          onChange={({ target }) => setPreferences({ preview: target.value as typeof preview })}
        >
          <option value="both">HTML, then the PDF</option>
          <option value="html">HTML only</option>
          <option value="pdf">PDF only</option>
        </select>
      }
    >
      {error !== null && error !== undefined && <ErrorNote error={error} />}
      {jobId !== undefined && <RenderState id={jobId} render={render} />}
      {made.error !== undefined && error == null && shown === 'html' && <ErrorNote error={made.error} />}
      {html !== undefined && (
        <div hidden={shown !== 'html'}>
          <LiveHtml html={html} options={options} />
          <p className="quiet">
            As HTML, without scripts and what is loaded. Pages, headers and footers are in the PDF.
          </p>
        </div>
      )}
      {shown === 'pdf' &&
        (last === undefined ? (
          <p className="quiet">{isBusy ? 'Rendering …' : 'Press Ctrl Enter to see the PDF here.'}</p>
        ) : (
          <PdfFrame id={last} />
        ))}
    </Card>
  );
}

/** The last render that has a PDF, which stays until the next one has its own. */
function useLastPdf(jobId: string | undefined, isThere: boolean): string | undefined {
  const [last, setLast] = useState<string>();
  useEffect(() => {
    if (isThere) setLast(jobId);
  }, [jobId, isThere]);
  return isThere ? jobId : last;
}
