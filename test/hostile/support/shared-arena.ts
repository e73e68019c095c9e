import { type Arena, openArena } from './arena.ts';

let opening: Promise<Arena> | undefined;

/** The arena that all hostile tests of a run share: it is opened for the first of them, and closed after the last. */
export function sharedArena(): Promise<Arena> {
  opening ??= openArena({ PLATEN_REGISTRATIONS_PER_ADDRESS: '20' });
  return opening;
}

after(async () => {
  await (await opening)?.close();
});
