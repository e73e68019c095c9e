/** A value in a unit of Grafana's, as it stands in a legend. */
export function shown(value: number, unit: string): string {
  switch (unit) {
    case 's':
      return seconds(value);
    case 'bytes':
      return `${scaled(value, 1024, ['', 'Ki', 'Mi', 'Gi'])}B`;
    case 'Bps':
      return `${scaled(value, 1000, ['', 'k', 'M', 'G'])}B/s`;
    case 'percentunit':
      return `${number(value * 100)} %`;
    case 'ops':
    case 'reqps':
      return `${number(value)}/s`;
    default:
      return scaled(value, 1000, ['', 'k', 'M']).trim();
  }
}

function seconds(value: number): string {
  if (value >= 120) return `${number(value / 60)} min`;
  return value > 0 && value < 1 ? `${number(value * 1000)} ms` : `${number(value)} s`;
}

function scaled(value: number, step: number, prefixes: readonly string[]): string {
  let rest = value;
  let at = 0;
  while (Math.abs(rest) >= step && at < prefixes.length - 1) {
    rest /= step;
    at += 1;
  }
  return `${number(rest)} ${prefixes[at]}`;
}

function number(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** The ends of steps from 0 to at least `most`: four to six of 1, 2 or 5 times a power of ten. Of nothing but zeros, 0 and 1. */
export function ticks(most: number): number[] {
  if (most <= 0) return [0, 1];
  const about = Math.max(most, 1e-6) / 4;
  const magnitude = 10 ** Math.floor(Math.log10(about));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((candidate) => candidate >= about)!;
  return Array.from({ length: Math.max(1, Math.ceil(most / step - 1e-9)) + 1 }, (_, i) => i * step);
}
