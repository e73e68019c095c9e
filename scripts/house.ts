/**
 * The structure of src, from its imports, types included.
 *
 *   node scripts/house.ts [FOLDER...]   the rooms of src and of each of its wings, or of these folders: floors and arrows
 *   node scripts/house.ts --check       nothing, or what the rules of scripts/house/rules.ts forbid, and 1
 */
import { join } from 'node:path';
import { readSources } from './house/imports.ts';
import { circlesOf, floorsOf, roomsOf } from './house/rooms.ts';
import { upward, violationsOf } from './house/violations.ts';

const sources = readSources(join(import.meta.dirname, '..', 'src'));
const args = process.argv.slice(2);

if (args.includes('--check')) {
  const violations = violationsOf(sources);
  for (const violation of violations) console.error(violation);
  process.exitCode = violations.length > 0 ? 1 : 0;
} else {
  const wings = [...roomsOf('', sources).keys()].filter((name) => !name.endsWith('.ts'));
  for (const folder of args.length > 0 ? args.map(belowSources) : ['', ...wings]) print(folder);
}

function belowSources(folder: string): string {
  return folder.replace(/^\.?\/?src\/?/, '').replace(/\/$/, '');
}

function print(folder: string): void {
  const rooms = roomsOf(folder, sources);
  const floors = floorsOf(rooms);
  const arrows = [...rooms.values()].reduce((sum, room) => sum + room.arrows.size, 0);
  const up = folder === '' ? upward(sources).length : circlesOf(rooms).length;
  const name = folder === '' ? 'src' : `src/${folder}`;
  console.log(`${name}: ${rooms.size} rooms, ${arrows} arrows, ${up} ${folder === '' ? 'up' : 'circles'}`);
  const byFloor = [...rooms.values()].sort(
    (a, b) => floors.get(b.name)! - floors.get(a.name)! || b.lines - a.lines,
  );
  for (const { name: room, files, lines, arrows: to } of byFloor) {
    const below = [...to.keys()].sort().join(' ');
    const size = room.endsWith('.ts') ? `${lines} lines` : `${files} files, ${lines} lines`;
    console.log(`  floor ${floors.get(room)}  ${room} (${size})${below && ` -> ${below}`}`);
  }
  console.log();
}
