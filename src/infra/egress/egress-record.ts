/** The egress proxy's record of requested hosts; the browser only learns that a tunnel failed. */
export interface EgressRecord {
  wasBlocked(hostname: string, sinceEpochMs: number): boolean;
  wasUnresolvable(hostname: string, sinceEpochMs: number): boolean;
}
