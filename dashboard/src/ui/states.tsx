import { CircleAlert, RotateCw, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError, sentence } from '../api.ts';
import { remedyOf } from '../remedies.ts';
import { Button } from './button.tsx';
import { Icon, type LucideIcon } from './icon.tsx';
import { Words } from './words.tsx';

/** What is on its way, in its shape. */
export function Loading({ shape = 'facts' }: { shape?: Shape }) {
  return (
    <div className="loading" role="status">
      <span className="unseen">Loading …</span>
      <Bones shape={shape} />
    </div>
  );
}

/** The lines of a list, of a card with facts, or of a whole page, before they are there. */
export function Bones({ shape }: { shape: Shape }) {
  return (
    <div className={`bones ${shape}`}>
      {SHAPES[shape].map((width, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they never change
        <span key={i} className={`bone w${width}`} />
      ))}
    </div>
  );
}

type Shape = keyof typeof SHAPES;

/** The widths of the lines, in percent. */
const SHAPES = {
  rows: [100, 100, 100, 100, 100, 100],
  facts: [30, 60, 45],
  page: [30, 60, 100, 100, 100],
} as const;

/** What went wrong, and what can be done about it. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const known = error instanceof ApiError ? error : undefined;
  const remedy = known === undefined ? undefined : remedyOf(known.code, known.remedy);
  return (
    <div className="note error" role="alert">
      <Icon of={CircleAlert} />
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
      {retry !== undefined && (
        <Button icon={RotateCw} onClick={() => void retry()}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** There is nothing yet, and what would change that: a sentence, and what can be pressed. */
export function Empty({
  title,
  icon = SearchX,
  actions,
  children,
}: {
  title: string;
  /** Default: of a search that has found nothing. */
  icon?: LucideIcon;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      <span className="drawing">
        <Icon of={icon} size={22} />
      </span>
      <p className="title">{title}</p>
      {children}
      {actions !== undefined && <div className="actions">{actions}</div>}
    </div>
  );
}
