import assert from 'node:assert/strict';
import { ALL_OPTIONS } from '../../../src/render/options/all/render-options.ts';
import { needsOf } from '../../../src/render/options/all/stages.ts';
import type { Option, Stage } from '../../../src/render/options/core/option.ts';
import { OPTIONS } from '../../../src/render/options/generated/options.ts';
import { CASES } from '../../options/support/all-cases.ts';
import { EVERYTHING, EXCLUDED, PAGE_HOOKS, PAUSING, REPORTED } from '../../options/support/traces.ts';

/** The functions by which an option acts at a stage; one of the stage `job` is read by the render itself. */
const FUNCTIONS: Readonly<Partial<Record<Stage, readonly (keyof Option)[]>>> = {
  page: ['page'],
  load: ['load', 'needs'],
  wait: ['insert', 'wait'],
  print: ['print', 'beforePrint', 'afterPrint'],
  finish: ['finish'],
};

describe('render options', () => {
  it('have a file of cases each with an effect, and no file is of another', () => {
    assert.deepEqual([...CASES.keys()].toSorted(), ALL_OPTIONS.map(({ name }) => name).toSorted());
    const unproven = [...CASES].filter(([, { effects }]) => effects.length === 0);
    assert.deepEqual(
      unproven.map(([name]) => name),
      [],
    );
  });

  it('that have a hook on the page are all among those that must leave nothing', () => {
    const stateful = ALL_OPTIONS.filter((option) => PAGE_HOOKS.some((hook) => option[hook] !== undefined));
    const tried = new Set(Object.keys({ ...EVERYTHING, ...PAUSING, ...REPORTED, ...EXCLUDED }));
    const missing = stateful.filter(({ name }) => !tried.has(name));
    assert.deepEqual(
      missing.map(({ name }) => name),
      [],
    );
    for (const options of [EVERYTHING, { ...EVERYTHING, ...REPORTED }])
      assert.notEqual(needsOf(options, 'url').dedicatedBrowser, true, 'another account has another browser');
  });

  it('have the name of their file', () => {
    for (const [file, { name }] of Object.entries(OPTIONS))
      assert.equal(name, file, `src/render/options/${file}.ts`);
  });

  it('act at the stage that they name', () => {
    const idle = ALL_OPTIONS.filter((option) => {
      const acts = (names: readonly (keyof Option)[] = []) =>
        names.some((name) => option[name] !== undefined);
      return (
        acts(Object.values(FUNCTIONS).flat()) && option.stage !== 'job' && !acts(FUNCTIONS[option.stage])
      );
    });
    assert.deepEqual(
      idle.map(({ name, stage }) => `${name}: ${stage}`),
      [],
    );
  });
});
