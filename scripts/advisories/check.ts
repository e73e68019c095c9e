import type { Pin } from './pins.ts';

/** An entry of known.json. */
export interface Advisory {
  readonly id: string;
  readonly product: Pin['product'];
  /** The first version of our release line without it; null while none is known. */
  readonly fixed: string | null;
  /** `unrated` where those who published it have not said. */
  readonly severity: 'unrated' | 'low' | 'medium' | 'high' | 'critical';
  /** Day or month of publication. */
  readonly published: string;
  readonly title: string;
  /** By pin: why it does no harm there, while its version cannot be raised. */
  readonly accepted?: Readonly<Record<string, string>>;
}

export interface Findings {
  /** What has to be mended, one line each. */
  readonly problems: readonly string[];
  /** What is accepted, one line each. */
  readonly accepted: readonly string[];
}

/** Compares pins with known advisories. An acceptance that nothing needs any more is a problem too. */
export function checkPins(pins: readonly Pin[], advisories: readonly Advisory[]): Findings {
  const problems: string[] = [];
  const accepted: string[] = [];
  for (const { id, product, fixed, severity, accepted: reasons = {} } of advisories) {
    const of = pins.filter((pin) => pin.product === product);
    for (const { where, file, version } of of) {
      const reason = reasons[where];
      const isAffected = fixed === null || isOlder(version, fixed);
      const line = `${file}: ${product} ${version} has ${id} (${severity}), ${fixed === null ? 'without a known mend' : `mended in ${fixed}`}`;
      if (isAffected && reason === undefined) problems.push(line);
      else if (isAffected) accepted.push(`${line}: ${reason}`);
      else if (reason !== undefined) problems.push(`${file}: ${id} need not be accepted any more`);
    }
    const strange = Object.keys(reasons).filter((where) => !of.some((pin) => pin.where === where));
    for (const where of strange) problems.push(`${id} is accepted for ${where}, which has no ${product}`);
  }
  // The package is raised with the other dependencies, and so shows when the image falls behind.
  const [image, lockfile] = ['image', 'lockfile'].map((where) =>
    pins.find((pin) => pin.product === 'node' && pin.where === where),
  );
  if (image !== undefined && lockfile !== undefined && isOlder(image.version, lockfile.version))
    problems.push(
      `${image.file}: node ${image.version} is older than ${lockfile.version} of ${lockfile.file}`,
    );
  return { problems, accepted };
}

/** Whether a version is older than another, both of numbers between dots. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split('.').map(Number));
  const length = Math.max(left!.length, right!.length);
  for (let at = 0; at < length; at += 1) {
    const difference = (left![at] ?? 0) - (right![at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
