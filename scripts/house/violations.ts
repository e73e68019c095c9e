import type { SourceFile } from './imports.ts';
import { circlesOf, foldersOf, roomsOf } from './rooms.ts';
import { FLOORS, MIXED, PACKAGES } from './rules.ts';

/** Every import that the rules forbid, and every circle of folders, a line each. Empty when the house is in order. */
export function violationsOf(sources: readonly SourceFile[]): string[] {
  return [...upward(sources), ...circles(sources), ...packages(sources)];
}

/** The imports of a wing by one that is not above it: an arrow that points upwards. */
export function upward(sources: readonly SourceFile[]): string[] {
  const floorOf = (path: string) => FLOORS.findIndex((wings) => wings.includes(wingOf(path)));
  return sources.flatMap(({ path, files }) => {
    if (floorOf(path) === -1)
      return [`src/${path}: src/${wingOf(path)} is on no floor (scripts/house/rules.ts)`];
    return files
      .filter((file) => wingOf(file) !== wingOf(path) && floorOf(file) >= floorOf(path))
      .map((file) => `src/${path} imports src/${file}, which is not below it`);
  });
}

function circles(sources: readonly SourceFile[]): string[] {
  return foldersOf(sources)
    .filter((folder) => !MIXED.includes(folder))
    .flatMap((folder) => {
      const rooms = roomsOf(folder, sources);
      return circlesOf(rooms).map((circle) => {
        const ties = circle.flatMap((name) =>
          [...rooms.get(name)!.arrows].filter(([other]) => circle.includes(other)).map(([, [tie]]) => tie!),
        );
        const imports = ties.map(([from, to]) => `    src/${from} imports src/${to}`).join('\n');
        return `In src/${folder}, ${circle.join(', ')} import each other in a circle:\n${imports}`;
      });
    });
}

function packages(sources: readonly SourceFile[]): string[] {
  return sources.flatMap(({ path, packages }) =>
    packages
      .filter((name) => PACKAGES[name]?.every((folder) => path !== folder && !path.startsWith(`${folder}/`)))
      .map((name) => {
        const folders = PACKAGES[name]!.map((folder) => `src/${folder}`).join(', ') || 'nowhere';
        return `src/${path} imports ${name}, which is imported in: ${folders}`;
      }),
  );
}

function wingOf(path: string): string {
  return path.split('/')[0]!;
}
