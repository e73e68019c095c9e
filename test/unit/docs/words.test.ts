import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Words of our own, each with the one that the field has for it. Order, holder and share are not here: they also name a
 * sort order, the holder of a lock and a fraction. Refuse is, but not refused: a value of stored fields and metrics.
 */
const WORDS: Readonly<Record<string, string>> = {
  turn: 'permit or slot',
  place: 'permit, position or capacity',
  lane: 'priority queue',
  fault: 'error',
  tell: 'notify or report',
  told: 'notified or reported',
  look: 'poll, check or query',
  answer: 'response',
  parts: 'deps',
  handover: 'drain',
  'hand over': 'dispatch',
  arriving: 'pending',
  leaving: 'cancelling',
  apart: 'dedicated',
  beside: 'concurrently',
  resting: 'blocked',
  entrance: 'proxy listener',
  care: 'reconciler',
  agenda: 'due queue',
  excess: 'limit exceeded',
  refusal: 'rejection',
  reading: 'sample or cursor',
  fold: 'sync',
  mend: 'repair',
  seat: 'key slot',
  ending: 'finalising',
  refuse: 'reject',
};

/** What is declared at the top of a file: classes, interfaces, types, functions and constants. */
const DECLARED =
  /^(?:export )?(?:default )?(?:abstract )?(?:async )?(?:class|interface|type|function\*?|const|enum) (\w+)/gm;

/** Constants, variables, members and parameters with a type. */
const LOCAL = /\b(?:const|let|readonly) (\w+)|#(\w+)|\b(\w+)\??: (?:[A-Z(]|string|number|boolean|readonly)/g;
const COMMENT = /\/\*.*?\*\/|(?<=^|\s)\/\/.*?$/gms;
/** Fields of stored records, which keep their names. */
const STORED: ReadonlySet<string> = new Set([
  'arriving',
  'ending',
  'firstPlace',
  'lane',
  'lanes',
  'leaving',
  'place',
  'seat',
  'sharedParts',
]);

/** Names that others have given, or that others use. */
const PUBLIC: ReadonlySet<string> = new Set([
  // An option of the TypeScript client.
  'answerTimeoutMs',
  // A field of an invoice of Stripe.
  'ending_balance',
]);

describe('The words of the sources', () => {
  it('are those of the field in names of files', async () => {
    const found: string[] = [];
    for await (const file of glob('{src,test,scripts}/**/*.{ts,mjs,cjs}', { cwd: root }))
      found.push(...wordsOf(basename(file).replace(/\..*$/, '')).map((word) => `${file}: ${advice(word)}`));
    assert.deepEqual(found, []);
  });

  it('are those of the field in what files declare', async () => {
    const found: string[] = [];
    for await (const file of sources()) {
      for (const [, name = ''] of readFileSync(`${root}${file}`, 'utf8').matchAll(DECLARED))
        found.push(...wordsOf(name).map((word) => `${file}: ${name}: ${advice(word)}`));
    }
    assert.deepEqual(found, []);
  });

  it('are those of the field in local names', async () => {
    const found: string[] = [];
    for await (const file of sources()) {
      const source = readFileSync(`${root}${file}`, 'utf8').replaceAll(COMMENT, '');
      for (const [, variable, privateName, typed] of source.matchAll(LOCAL)) {
        const name = variable ?? privateName ?? typed ?? '';
        if (!STORED.has(name) && !PUBLIC.has(name))
          found.push(...wordsOf(name).map((word) => `${file}: ${name}: ${advice(word)}`));
      }
    }
    assert.deepEqual(found, []);
  });

  it('are found in names of each kind', () => {
    for (const name of ['LaneHeads', 'tellOwner', 'BATCH_LANE', 'start-fault', 'handOver', 'answers'])
      assert.equal(wordsOf(name).length, 1, name);
    for (const name of ['placeholder', 'returned', 'lookup', 'folder', 'defaults', 'careful'])
      assert.deepEqual(wordsOf(name), []);
  });
});

/** The files whose names are held to the list. Generated ones have the names of their source. */
async function* sources(): AsyncGenerator<string> {
  const pattern = '{src,test,scripts,dashboard/src,clients/typescript/src}/**/*.{ts,tsx,mjs,cjs}';
  for await (const file of glob(pattern, { cwd: root })) {
    if (!file.includes('/generated/')) yield file;
  }
}

/** The words of the list that a name is made of, in singular or plural. */
function wordsOf(name: string): string[] {
  const parted = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]/g, ' ')
    .toLowerCase();
  return Object.keys(WORDS).filter((word) => new RegExp(`\\b${word}s?\\b(?! up)`).test(parted));
}

function advice(word: string): string {
  return `"${word}" is called ${WORDS[word]} in this field`;
}
