import { useState } from 'react';
import { flushSync } from 'react-dom';
import { useLocation } from 'wouter';
import { MENU } from './navigation.ts';
import { Dialog } from './ui/dialog.tsx';

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Leads to a page by a part of its name, and to a job by its id. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog title="Go to" open={open} onClose={onClose}>
      <Search onClose={onClose} />
    </Dialog>
  );
}

function Search({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = destinations(text.trim());
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
        go(found[chosen]?.[0]);
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here
        autoFocus
        role="combobox"
        aria-label="A page, or the id of a render or batch"
        aria-expanded="true"
        aria-controls="destinations"
        aria-activedescendant={found.length > 0 ? `destination-${chosen}` : undefined}
        placeholder="A page, or the id of a render or batch"
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
        {found.map(([path, title], i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
          <div
            key={path}
            id={`destination-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen}
            onClick={() => go(path)}
          >
            {title}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="quiet">No page has this name, and it is not a complete id.</p>}
    </form>
  );
}

function destinations(text: string): (readonly [path: string, title: string])[] {
  if (ID.test(text))
    return [
      [`/renders/${text}`, `Render ${text}`],
      [`/batches/${text}`, `Batch ${text}`],
    ];
  const wanted = text.toLowerCase();
  return MENU.flatMap(({ pages }) => pages).filter(([, title]) => title.toLowerCase().includes(wanted));
}

export function Shortcuts({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog title="Keys" open={open} onClose={onClose}>
      <dl className="facts">
        <div>
          <dt>
            <kbd>Ctrl K</kbd> or <kbd>⌘ K</kbd>
          </dt>
          <dd>Go to a page, a render or a batch</dd>
        </div>
        <div>
          <dt>
            <kbd>Ctrl Enter</kbd>
          </dt>
          <dd>Render, in the playground and in a template</dd>
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
