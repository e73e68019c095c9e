/** metav1.MicroTime, of Leases and Events: the API server rejects a time with any other number of digits. */
export function microTime(time: Date): string {
  return time.toISOString().replace(/Z$/, '000Z');
}
