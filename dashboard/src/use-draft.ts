import { useEffect, useState } from 'react';
import { type Draft, draftKey, keepDraft, readDraft, writeDraft } from './drafts.ts';
import { useAccount } from './session.tsx';

/**
 * The draft of a page.
 *
 * @param name of the page and of what it is about, as `template/ID`.
 * @returns what was found when the page was opened, and what keeps a value from now on; undefined drops the draft.
 */
export function useDraft<Value>(
  name: string,
): [found: Draft<Value> | undefined, keep: (value: Value | undefined) => void] {
  const key = draftKey(useAccount().id, name);
  const [found] = useState(() => readDraft<Value>(key));
  useEffect(() => () => writeDraft(key), [key]);
  return [found, (value) => keepDraft(key, value)];
}
