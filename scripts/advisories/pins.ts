import { readFileSync } from 'node:fs';

/** A version that this repository names, of something that Platen runs on. */
export interface Pin {
  readonly product: 'node' | 'netty' | 'mongodb' | 'kafka';
  /** What names it, as `accepted` in the table of advisories does. */
  readonly where: string;
  readonly file: string;
  readonly version: string;
}

const SOURCES: readonly (Omit<Pin, 'version'> & { readonly pattern: RegExp })[] = [
  { product: 'node', where: 'image', file: 'Dockerfile', pattern: /^ARG NODE_IMAGE=.*\/node:([\d.]+)-/m },
  {
    product: 'node',
    where: 'lockfile',
    file: 'package-lock.json',
    pattern: /"node_modules\/node": \{\s+"version": "([\d.]+)"/,
  },
  {
    product: 'netty',
    where: 'embedded',
    file: 'peers/mongo-java-server/pom.xml',
    pattern: /<artifactId>netty-bom<\/artifactId>\s+<version>([\d.]+)\.Final</,
  },
  {
    product: 'mongodb',
    where: 'embedded',
    file: 'src/infra/embedded-database/mongod.ts',
    pattern: /FETCHED_VERSION = '([\d.]+)'/,
  },
  { product: 'mongodb', where: 'compose', file: 'compose.yaml', pattern: /\/mongo:([\d.]+)@/ },
  { product: 'kafka', where: 'compose', file: 'compose.yaml', pattern: /\/kafka:([\d.]+)@/ },
  {
    product: 'kafka',
    where: 'chart',
    file: 'charts/platen/values.yaml',
    pattern: /image: apache\/kafka:([\d.]+)/,
  },
  {
    product: 'kafka',
    where: 'tests',
    file: 'peers/kafka/pom.xml',
    pattern: /<artifactId>kafka_[\d.]+<\/artifactId>\s+<version>([\d.]+)</,
  },
];

/** @throws Error when a file names no version where it should. */
export function readPins(root: URL): Pin[] {
  return SOURCES.map(({ pattern, ...pin }) => {
    const [, version] = pattern.exec(readFileSync(new URL(pin.file, root), 'utf8')) ?? [];
    if (version === undefined) throw new Error(`${pin.file} names no version of ${pin.product}`);
    return { ...pin, version };
  });
}
