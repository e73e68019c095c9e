import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fontConfiguration, OPERATORS_FONTS } from '../../../scripts/fonts/configuration.ts';
import { BY_LANGUAGE, FONTS, GENERIC } from '../../../scripts/fonts/list.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

describe('the list of fonts', () => {
  it('names exactly the packages that are installed, in exact versions', () => {
    const { dependencies } = JSON.parse(read('fonts/package.json')) as {
      dependencies: Record<string, string>;
    };
    assert.deepEqual(Object.keys(dependencies), FONTS.map((font) => font.package).toSorted());
    for (const [name, version] of Object.entries(dependencies))
      assert.match(version, /^\d+\.\d+\.\d+$/, name);
  });

  it('has every family once, and every family that a rule leads to', () => {
    const families = FONTS.map(({ family }) => family);
    assert.equal(new Set(families).size, families.length);
    for (const family of [...Object.values(GENERIC), ...Object.values(BY_LANGUAGE)])
      assert.ok(families.includes(family), family);
    const replaced = FONTS.flatMap(({ replaces = [] }) => replaces);
    assert.equal(new Set([...replaced, ...families]).size, replaced.length + families.length);
  });

  it('leaves no font of the machine but those of the operator', () => {
    const configuration = fontConfiguration();
    assert.doesNotMatch(configuration, /<include/);
    assert.deepEqual(
      [...configuration.matchAll(/<dir[^>]*>([^<]*)/g)].map(([, folder]) => folder),
      [OPERATORS_FONTS, 'files'],
    );
  });

  it('is what the image installs, and all that it does', () => {
    const dockerfile = read('Dockerfile');
    assert.doesNotMatch(dockerfile, /\bfonts-[a-z]/);
    assert.match(dockerfile, /^COPY fonts\/package\.json fonts\/package-lock\.json fonts\/$/m);
    assert.match(dockerfile, /^ && node scripts\/fonts\/collect\.ts$/m);
    assert.match(dockerfile, /^COPY --from=build \/build\/fonts\/installed fonts\/installed$/m);
    assert.match(dockerfile, /rm -rf .*\/usr\/share\/fonts\/\*/);
  });
});
