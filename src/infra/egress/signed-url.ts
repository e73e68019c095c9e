/** Parameters of signed addresses: of Amazon and those who sign as it does, and of Google. */
const SIGNERS = ['amz', 'goog'] as const;
const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/**
 * When a signed address ends, by what it says itself: of S3 and of Google by when it was signed and for how many seconds,
 * of Azure by its end.
 *
 * @returns undefined for an address that does not say.
 */
export function endOfSignedUrl(address: string): Date | undefined {
  const given = new Map(
    [...new URL(address).searchParams].map(([name, value]) => [name.toLowerCase(), value] as const),
  );
  for (const signer of SIGNERS) {
    const [, ...parts] = TIME.exec(given.get(`x-${signer}-date`) ?? '') ?? [];
    const seconds = given.get(`x-${signer}-expires`) ?? '';
    if (parts.length === 0 || !/^\d{1,9}$/.test(seconds)) continue;
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number);
    return dateOf(Date.UTC(year, month - 1, day, hour, minute, second) + Number(seconds) * 1000);
  }
  const end = given.has('sig') ? given.get('se') : undefined;
  return end === undefined || !/^\d{4}-/.test(end) ? undefined : dateOf(Date.parse(end));
}

function dateOf(ms: number): Date | undefined {
  return Number.isNaN(ms) ? undefined : new Date(ms);
}
