/*
 * What has been typed and not been saved, so that no link, reload or closed tab loses it. It is kept in this browser, for
 * other tabs as well, until it is saved or discarded, or the account signs out.
 */

const PREFIX = 'platen-draft';
/** Of all pages of an account; the oldest make room for others. */
const MOST_DRAFTS = 20;
/** After the last key, in milliseconds: a long text is not written at each. */
const WRITTEN_AFTER_MS = 300;

export interface Draft<Value> {
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly value: Value;
}

/** This tab's own, which another tab does not change while it is typed into. Undefined for one that was dropped. */
const own = new Map<string, Draft<unknown> | undefined>();
/** Those that are not in the browser's storage, or not yet. */
const unwritten = new Map<string, ReturnType<typeof setTimeout>>();
const unkept = new Set<string>();

window.addEventListener('pagehide', writeAll);
// Only where the browser keeps nothing: it asks before what was typed is gone.
window.addEventListener('beforeunload', (event) => {
  writeAll();
  if (unkept.size > 0) event.preventDefault();
});

/** Forgets all drafts: when the account signs out, and those of another account when one signs in. */
export function forgetDrafts(exceptOf?: string): void {
  const isKept = (key: string) => exceptOf !== undefined && key.startsWith(`${PREFIX}:${exceptOf}:`);
  for (const key of stored()) if (!isKept(key)) localStorage.removeItem(key);
  for (const key of [...own.keys(), ...unwritten.keys()].filter((each) => !isKept(each))) {
    clearTimeout(unwritten.get(key));
    unwritten.delete(key);
    unkept.delete(key);
    own.delete(key);
  }
}

/** The name by which a draft of an account is kept. */
export function draftKey(accountId: string, name: string): string {
  return `${PREFIX}:${accountId}:${name}`;
}

/** Keeps a value from now on; undefined drops the draft. */
export function keepDraft(key: string, value: unknown): void {
  own.set(key, value === undefined ? undefined : { at: Date.now(), value });
  clearTimeout(unwritten.get(key));
  unwritten.set(
    key,
    setTimeout(() => writeDraft(key), WRITTEN_AFTER_MS),
  );
}

export function readDraft<Value>(key: string): Draft<Value> | undefined {
  if (own.has(key)) return own.get(key) as Draft<Value> | undefined;
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Writes a draft now, so that another tab finds it. */
export function writeDraft(key: string): void {
  const timer = unwritten.get(key);
  if (timer === undefined) return;
  clearTimeout(timer);
  unwritten.delete(key);
  const draft = own.get(key);
  if (draft === undefined) {
    own.delete(key);
    localStorage.removeItem(key);
    unkept.delete(key);
  } else if (stores(key, JSON.stringify(draft))) unkept.delete(key);
  else unkept.add(key);
}

function writeAll(): void {
  for (const key of [...unwritten.keys()]) writeDraft(key);
}

/** @returns false where the browser has no room, even without the other drafts. */
function stores(key: string, text: string): boolean {
  const others = stored().filter((each) => each !== key);
  const byAge = others.sort((a, b) => (readDraft(a)?.at ?? 0) - (readDraft(b)?.at ?? 0));
  while (byAge.length >= MOST_DRAFTS) localStorage.removeItem(byAge.shift()!);
  for (;;) {
    try {
      localStorage.setItem(key, text);
      return true;
    } catch {
      const oldest = byAge.shift();
      if (oldest === undefined) return false;
      localStorage.removeItem(oldest);
    }
  }
}

function stored(): string[] {
  return Object.keys(localStorage).filter((key) => key.startsWith(`${PREFIX}:`));
}
