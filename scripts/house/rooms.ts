import type { SourceFile } from './imports.ts';

/** An entry of a folder, which is a folder or a file, and the other entries of the same folder that it imports from. */
export interface Room {
  readonly name: string;
  files: number;
  lines: number;
  /** By the room that is imported from, the imports: a file and a file. */
  readonly arrows: Map<string, [from: string, to: string][]>;
}

/** The rooms of a folder. @param folder below the sources; empty for the sources themselves. */
export function roomsOf(folder: string, sources: readonly SourceFile[]): Map<string, Room> {
  const prefix = folder === '' ? '' : `${folder}/`;
  const nameOf = (path: string) =>
    path.startsWith(prefix) ? path.slice(prefix.length).split('/')[0]! : undefined;
  const rooms = new Map<string, Room>();
  for (const { path, lines, files } of sources) {
    const name = nameOf(path);
    if (name === undefined) continue;
    const room = rooms.get(name) ?? { name, files: 0, lines: 0, arrows: new Map() };
    rooms.set(name, room);
    room.files += 1;
    room.lines += lines;
    for (const file of files) {
      const other = nameOf(file);
      if (other === undefined || other === name) continue;
      const arrow = room.arrows.get(other) ?? [];
      room.arrows.set(other, [...arrow, [path, file]]);
    }
  }
  return rooms;
}

/** Every folder below the sources, the sources themselves as the empty name. */
export function foldersOf(sources: readonly SourceFile[]): string[] {
  const folders = new Set<string>();
  for (const { path } of sources) {
    const names = path.split('/');
    for (let depth = 0; depth < names.length; depth += 1) folders.add(names.slice(0, depth).join('/'));
  }
  return [...folders].sort();
}

/** Rooms that import each other in a circle, each set as large as can be. */
export function circlesOf(rooms: ReadonlyMap<string, Room>): string[][] {
  const reach = new Map([...rooms.keys()].map((name) => [name, reachedFrom(name, rooms)]));
  const circles = new Map<string, string[]>();
  for (const name of rooms.keys()) {
    const circle = [...rooms.keys()].filter(
      (other) => reach.get(name)!.has(other) && reach.get(other)!.has(name),
    );
    if (circle.length > 1) circles.set(circle.join(), circle);
  }
  return [...circles.values()];
}

function reachedFrom(name: string, rooms: ReadonlyMap<string, Room>): Set<string> {
  const reached = new Set<string>();
  const ahead = [...(rooms.get(name)?.arrows.keys() ?? [])];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    ahead.push(...(rooms.get(next)?.arrows.keys() ?? []));
  }
  return reached;
}

/** The floor of each room: one more than the highest that it imports from, 1 at the ground. Rooms of a circle share one. */
export function floorsOf(rooms: ReadonlyMap<string, Room>): Map<string, number> {
  const circles = circlesOf(rooms);
  const circleOf = (name: string) => circles.find((circle) => circle.includes(name)) ?? [name];
  const floors = new Map<string, number>();
  const floorOf = (name: string): number => {
    const known = floors.get(name);
    if (known !== undefined) return known;
    const circle = circleOf(name);
    const below = circle
      .flatMap((one) => [...(rooms.get(one)?.arrows.keys() ?? [])])
      .filter((other) => !circle.includes(other) && rooms.has(other));
    const floor = 1 + Math.max(0, ...below.map(floorOf));
    for (const one of circle) floors.set(one, floor);
    return floor;
  };
  for (const name of rooms.keys()) floorOf(name);
  return floors;
}
