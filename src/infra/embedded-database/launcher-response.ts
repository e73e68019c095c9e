/** The response of the launcher of the embedded database: see peers/mongo-java-server/EmbeddedDatabase.java. */
export type LauncherResponse =
  | { readonly kind: 'jvm'; readonly name: string }
  | { readonly kind: 'listening' }
  | { readonly kind: 'locked' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'waiting'; readonly reason: string }
  | { readonly kind: 'written' };

const FORM = /^platen-database (?<word>[A-Z]+)(?: (?<rest>.*))?$/;

/** The response in a line of output; undefined for lines of the JVM or of other code. */
export function parseResponse(line: string): LauncherResponse | undefined {
  const { word, rest = '' } = FORM.exec(line)?.groups ?? {};
  switch (word) {
    case 'JVM':
      return { kind: 'jvm', name: rest };
    case 'LISTENING':
      return { kind: 'listening' };
    case 'LOCKED':
      return { kind: 'locked' };
    case 'FAILED':
      return { kind: 'failed', reason: rest };
    case 'WAITING':
      return { kind: 'waiting', reason: rest };
    case 'WRITTEN':
      return { kind: 'written' };
    default:
      return undefined;
  }
}
