import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { useLocation } from 'wouter';
import { api, call } from './api.ts';
import { firstLine, number, shortId } from './format.ts';
import { menuOf } from './navigation.ts';
import { mayDevelop, type Role } from './roles.ts';
import { useAccount } from './session.tsx';
import { Dialog } from './ui/dialog.tsx';

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Of each kind that the service is asked for. */
const MOST_FOUND = 5;
/** After the last letter. */
const RESTS_MS = 250;

interface Destination {
  /** What it is, as `Page`. */
  readonly kind: string;
  readonly path: string;
  readonly title: string;
  /** What tells it from others of its name. */
  readonly detail?: string;
  /** Of what changes something: not for everyone who sees the page. */
  readonly develops?: boolean;
}

/** What one does, and parts of pages; found by their words. */
const ACTIONS: readonly Destination[] = (
  [
    ['/keys', 'Create an API key', true],
    ['/batches/new', 'New batch from a file', true],
    ['/templates', 'New template', true],
    ['/renders?status=failed', 'Failed renders'],
    ['/renders?sort=duration_desc', 'Slowest renders'],
    ['/renders?status=queued', 'Renders that wait'],
    ['/logs?status=error', 'Rejected requests'],
    ['/billing', 'Invoices and plans'],
    ['/settings', 'Password and sessions'],
  ] as const
).map(([path, title, develops = false]) => ({ kind: 'Action', path, title, develops }));

/** Leads to a page, an action, or something that the account has, by a part of its name or id. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog title="Go to" open={open} onClose={onClose}>
      <Search onClose={onClose} />
    </Dialog>
  );
}

const PROMPT = 'A page, a render, a template, a key, a batch …';

function Search({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { role } = useAccount();
  const { found, isSearching } = useDestinations(text.trim(), role);
  const chosen = Math.min(at, found.length - 1);
  const go = (path: string | undefined) => {
    if (path === undefined) return;
    // First, for it gives the focus back to where that was, and the page takes it to its heading.
    flushSync(onClose);
    navigate(path);
  };
  return (
    <form
      className="palette"
      onSubmit={(event) => {
        event.preventDefault();
        go(found[chosen]?.path);
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here
        autoFocus
        role="combobox"
        aria-label={PROMPT}
        aria-expanded="true"
        aria-controls="destinations"
        aria-activedescendant={found.length > 0 ? `destination-${chosen}` : undefined}
        placeholder={PROMPT}
        maxLength={100}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step === undefined) return;
          event.preventDefault();
          setAt((chosen + step + found.length) % found.length);
        }}
      />
      <div id="destinations" role="listbox" aria-label="Destinations">
        {found.map(({ kind, path, title, detail }, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
          <div
            key={`${kind} ${path}`}
            id={`destination-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen}
            onClick={() => go(path)}
          >
            <bdi>{title}</bdi>{' '}
            <span className="quiet">
              {kind}
              {detail !== undefined && `, ${detail}`}
            </span>
          </div>
        ))}
      </div>
      <p className="quiet" role="status">
        {isSearching ? 'Searching …' : found.length === 0 ? 'Nothing has this in its name or id.' : ''}
      </p>
    </form>
  );
}

/** What matches a text: what is known here at once, what the service is asked for when the typing rests. */
function useDestinations(text: string, role: Role): { found: readonly Destination[]; isSearching: boolean } {
  const [rested, setRested] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), RESTS_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const wanted = text.toLowerCase();
  const menu = menuOf(role);
  const paths = menu.flatMap(({ pages }) => pages.map(([path]) => path));
  const asked = useQuery({
    queryKey: ['palette', rested.toLowerCase()],
    queryFn: () => ownDestinations(rested, paths),
    enabled: rested.length >= 2 && rested === text,
    staleTime: 10_000,
  });
  const has = ({ title }: Destination) => title.toLowerCase().includes(wanted);
  const pages = menu.flatMap(({ group, pages }) =>
    pages.map(([path, title]) => ({ kind: 'Page', path, title, detail: group })),
  );
  const actions = ACTIONS.filter(
    ({ path, develops }) =>
      (!develops || mayDevelop(role)) && paths.some((page) => page !== '/' && path.startsWith(page)),
  );
  const known = [...pages.filter(has), ...(wanted === '' ? [] : actions.filter(has))];
  const own = text.length >= 2 && rested === text ? (asked.data ?? []) : [];
  // Also what is too old to be found, and at once.
  const byId = ID.test(text) && own.length === 0 ? ['Render', 'Batch'].map((kind) => ofId(kind, wanted)) : [];
  return {
    found: [...known, ...own, ...byId],
    isSearching: text.length >= 2 && (rested !== text || asked.isPending),
  };
}

function ofId(kind: string, id: string): Destination {
  return { kind, path: `/${kind === 'Render' ? 'renders' : 'batches'}/${id}`, title: id };
}

/** What the account has by that name or id, of what the role sees; what cannot be asked for is left out. */
async function ownDestinations(text: string, paths: readonly string[]): Promise<Destination[]> {
  const kinds = { '/renders': renders, '/templates': templates, '/keys': keys, '/batches': batches };
  const asked = Object.entries(kinds).filter(([path]) => paths.includes(path));
  const parts = await Promise.allSettled(asked.map(([, find]) => find(text)));
  return parts.flatMap((part) => (part.status === 'fulfilled' ? part.value : []));
}

async function renders(search: string): Promise<Destination[]> {
  const query = { search, limit: MOST_FOUND };
  const found = await call(api.GET('/user/renders', { params: { query } }));
  const rows = found.renders.map(({ jobId, fileName, status }) => ({
    kind: 'Render',
    path: `/renders/${jobId}`,
    title: fileName,
    detail: `${shortId(jobId)}, ${status}`,
  }));
  if (found.total <= MOST_FOUND) return rows;
  const all = { kind: 'Renders', path: `/renders?search=${encodeURIComponent(search)}` };
  return [...rows, { ...all, title: `All ${number(found.total)} with “${search}”` }];
}

async function templates(search: string): Promise<Destination[]> {
  const query = { view: 'summary', search, limit: MOST_FOUND } as const;
  const found = await call(api.GET('/user/templates', { params: { query } }));
  return found.templates.map(({ id, name }) => ({ kind: 'Template', path: `/templates/${id}`, title: name }));
}

async function keys(text: string): Promise<Destination[]> {
  const wanted = text.toLowerCase();
  const found = await call(api.GET('/user/api-keys', { params: { query: { limit: 100 } } }));
  return found.keys
    .filter(
      ({ name, prefix }) => name.toLowerCase().includes(wanted) || prefix.toLowerCase().includes(wanted),
    )
    .slice(0, MOST_FOUND)
    .map(({ id, name, prefix }) => ({
      kind: 'Renders by key',
      path: `/renders?apiKeyId=${id}`,
      title: name,
      detail: `${prefix}…`,
    }));
}

/** Among the newest hundred. */
async function batches(text: string): Promise<Destination[]> {
  const wanted = text.toLowerCase();
  const found = await call(api.GET('/user/batches', { params: { query: { limit: 100 } } }));
  return found.batches
    .filter(({ jobId, job }) => job.notes.toLowerCase().includes(wanted) || jobId.includes(wanted))
    .slice(0, MOST_FOUND)
    .map(({ jobId, job }) => ({
      kind: 'Batch',
      path: `/batches/${jobId}`,
      title: firstLine(job.notes) || 'Batch',
      detail: shortId(jobId),
    }));
}

export function Shortcuts({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" open={open} onClose={onClose}>
      <dl className="facts">
        <div>
          <dt>
            <kbd>Ctrl K</kbd> or <kbd>⌘ K</kbd>
          </dt>
          <dd>Go to a page, or find what the account has</dd>
        </div>
        <div>
          <dt>
            <kbd>Ctrl Enter</kbd>
          </dt>
          <dd>Render, in the playground and in a template</dd>
        </div>
        <div>
          <dt>
            <kbd>↑</kbd> <kbd>↓</kbd>
          </dt>
          <dd>The next render, while one is open beside the list</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>This list</dd>
        </div>
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>Close what is open</dd>
        </div>
      </dl>
    </Dialog>
  );
}
