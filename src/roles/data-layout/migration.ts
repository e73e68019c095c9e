import type { Connection } from 'mongoose';

/** How far a migration has come, for the log: counts, named by what they count. */
export type Progress = Readonly<Record<string, number>>;

/** Turns the layout before into the next one. Repeated after a crash in the middle, it has the same result. */
export type Migration = (connection: Connection, report: (progress: Progress) => void) => Promise<void>;
