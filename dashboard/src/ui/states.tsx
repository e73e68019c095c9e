import type { ReactNode } from 'react';
import { ApiError, sentence } from '../api.ts';
import { remedyOf } from '../remedies.ts';
import { Button } from './button.tsx';
import { Words } from './words.tsx';

export function Loading() {
  return (
    <p className="loading" role="status">
      Loading …
    </p>
  );
}

/** What went wrong, and what can be done about it. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const known = error instanceof ApiError ? error : undefined;
  const remedy = known === undefined ? undefined : remedyOf(known.code, known.remedy);
  return (
    <div className="note error" role="alert">
      {known !== undefined && known.problems.length > 1 ? (
        <ul>
          {known.problems.map((problem) => (
            <li key={problem}>
              <Words text={problem} />
            </li>
          ))}
        </ul>
      ) : (
        <p>
          <Words text={sentence(error)} />
        </p>
      )}
      {remedy !== undefined && (
        <p>
          <Words text={remedy} />
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
