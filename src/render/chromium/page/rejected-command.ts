/** Chromium's words for values that a command may not have. A page that has ended has other words. */
const REJECTED = /^Protocol error \([\w.]+\): (.*\b(?:invalid|sanitizing|deserialize|must be)\b.*)$/is;

/** Why Chromium has rejected the values of a command; undefined for every other error. */
export function rejectionReason(error: unknown): string | undefined {
  return error instanceof Error ? REJECTED.exec(error.message)?.[1]?.trim() : undefined;
}
