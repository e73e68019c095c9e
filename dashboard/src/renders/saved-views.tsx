import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useAccount } from '../session.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';

/** A list as it was narrowed and sorted, under a name. */
interface SavedView {
  readonly name: string;
  /** As in the address. */
  readonly query: string;
}

const MOST_VIEWS = 20;
/** Of what is in the address, what is no part of a view. */
const NOT_KEPT = ['offset', 'open'];

/**
 * Views of the list that were saved in this browser, of this account: a list is shared by its address, so they need no place
 * at the service.
 */
export function SavedViews() {
  const { id } = useAccount();
  const key = `platen-views:${id}`;
  const [views, setViews] = useState(() => read(key));
  const [params] = useSearchParams();
  const [name, setName] = useState<string>();
  const query = queryOf(params);
  const keep = (changed: readonly SavedView[]) => {
    setViews(changed);
    try {
      localStorage.setItem(key, JSON.stringify(changed));
    } catch {
      // A browser that keeps nothing has them for as long as the page is open.
    }
  };
  const shown = views.find((view) => view.query === query);
  if (views.length === 0 && query === '') return null;
  return (
    <div className="views">
      {views.map((view) => (
        <Link
          key={view.name}
          href={`/renders${view.query === '' ? '' : `?${view.query}`}`}
          className="chip"
          aria-current={view === shown ? 'true' : undefined}
        >
          {view.name}
        </Link>
      ))}
      {shown !== undefined && (
        <Button onClick={() => keep(views.filter((view) => view !== shown))}>Forget this view</Button>
      )}
      {shown === undefined && query !== '' && views.length < MOST_VIEWS && (
        <Button onClick={() => setName('')}>Save this view</Button>
      )}
      <Dialog title="Save this view" open={name !== undefined} onClose={() => setName(undefined)}>
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            const chosen = (name ?? '').trim();
            if (chosen === '') return;
            keep([...views.filter((view) => view.name !== chosen), { name: chosen, query }]);
            setName(undefined);
          }}
        >
          <TextField
            label="Name of the view"
            hint="The filters and the order are kept in this browser. To send them to somebody, send the address of the page."
            required
            maxLength={40}
            value={name ?? ''}
            onChange={setName}
          />
          <Button kind="primary" type="submit">
            Save
          </Button>
        </form>
      </Dialog>
    </div>
  );
}

function queryOf(params: URLSearchParams): string {
  const kept = new URLSearchParams(params);
  for (const name of NOT_KEPT) kept.delete(name);
  kept.sort();
  return kept.toString();
}

function read(key: string): readonly SavedView[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(found) ? (found as SavedView[]).filter(isView).slice(0, MOST_VIEWS) : [];
  } catch {
    return [];
  }
}

function isView(value: SavedView | null): boolean {
  return typeof value?.name === 'string' && typeof value.query === 'string';
}
