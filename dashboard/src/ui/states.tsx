import type { ReactNode } from 'react';
import { ApiError, sentence } from '../api.ts';
import { Button } from './button.tsx';

export function Loading() {
  return (
    <p className="loading" role="status">
      Loading …
    </p>
  );
}

/** What went wrong, what can be done about it, and where that is explained. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const known = error instanceof ApiError ? error : undefined;
  return (
    <div className="note error" role="alert">
      {known !== undefined && known.problems.length > 1 ? (
        <ul>
          {known.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      ) : (
        <p>{sentence(error)}</p>
      )}
      {known?.remedy !== undefined && <p>{known.remedy}</p>}
      {known?.docsUrl !== undefined && (
        <p>
          <a href={known.docsUrl}>What {known.code} means</a>
        </p>
      )}
      {retry !== undefined && <Button onClick={() => void retry()}>Try again</Button>}
    </div>
  );
}

/** There is nothing yet, and what would change that. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="title">{title}</p>
      {children}
    </div>
  );
}
