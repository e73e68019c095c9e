import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { changesIn, sectionOf } from '../../../scripts/release/changelog.ts';
import { debianBom, namedBom } from '../../../scripts/release/sbom.ts';

const ROOT = new URL('../../../', import.meta.url);

const CHANGELOG = `# Changelog

## Unreleased

### Added

- Not yet.

## [1.2.0] - 2026-12-01

### Added

- A command, \`platen x\`,
  in [two lines](docs/x.md).

### Security

- A fix.

### Upgrade

- Stop all roles.

## 1.1.0

### Fixed

- The one before.
`;

describe('The changelog', () => {
  it('gives the section of a version, with or without brackets and a date', () => {
    assert.match(sectionOf(CHANGELOG, '1.2.0')!, /^### Added\n\n- A command[\s\S]*- Stop all roles\.$/);
    assert.match(sectionOf(CHANGELOG, '1.1.0')!, /^### Fixed\n\n- The one before\.$/);
    assert.equal(sectionOf(CHANGELOG, '1.2'), undefined);
    assert.equal(sectionOf(CHANGELOG, '2.0.0'), undefined);
  });

  it('gives the changes of a section as plain lines, without what is to be done at an upgrade', () => {
    assert.deepEqual(changesIn(sectionOf(CHANGELOG, '1.2.0')!), [
      { kind: 'added', description: 'A command, platen x, in two lines.' },
      { kind: 'security', description: 'A fix.' },
    ]);
  });
});

describe('A release', () => {
  it('is refused for another version than that of the sources, and without a section in the changelog', async () => {
    const script = fileURLToPath(new URL('scripts/release.ts', ROOT));
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, [script, '99.0.0'], (error, _stdout, said) =>
        resolve({ code: error?.code, stderr: said }),
      );
    });
    assert.equal(code, 1);
    assert.match(stderr, /^VERSION is 99\.0\.0, and package\.json has \d/m);
    assert.match(stderr, /^CHANGELOG\.md has no section "## 99\.0\.0"\./m);
  });
});

describe('A bill of materials', () => {
  it('names the Debian packages of an image by what scanners look up', () => {
    const bom = debianBom(
      'platen:1',
      '1',
      'tini\t0.19.0-3+b8\tamd64\nlibstdc++6\t14.2.0-19\tamd64\n',
      new Date(0),
    );
    assert.deepEqual(bom.components, [
      {
        type: 'library',
        name: 'tini',
        version: '0.19.0-3+b8',
        purl: 'pkg:deb/debian/tini@0.19.0-3%2Bb8?arch=amd64',
      },
      {
        type: 'library',
        name: 'libstdc++6',
        version: '14.2.0-19',
        purl: 'pkg:deb/debian/libstdc%2B%2B6@14.2.0-19?arch=amd64',
      },
    ]);
    assert.equal(bom.metadata.timestamp, '1970-01-01T00:00:00.000Z');
    assert.throws(() => debianBom('platen:1', '1', 'no such image', new Date(0)), /no line of dpkg-query/);
  });

  it('of npm is about the service, not about the folder that it was made in', () => {
    const made = namedBom('{"metadata":{"component":{"name":"x","type":"library","version":"1"}}}', 'platen');
    assert.deepEqual(JSON.parse(made).metadata.component, {
      name: 'platen',
      type: 'application',
      version: '1',
    });
  });
});
