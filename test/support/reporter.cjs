const { appendFileSync, readFileSync } = require('node:fs');
const { relative } = require('node:path');
const { reporters, Runner } = require('mocha');

/**
 * Mocha's spec reporter, closing with a line for each test that failed, "FAILED title: what was wrong", so that nobody has to
 * look for them among thousands, and one plain line: "N passed, N failed". To the file that PLATEN_TEST_TIMES names it adds a
 * line for each file of tests, hooks included: "milliseconds processorMilliseconds file". To the file that
 * PLATEN_TEST_FAILED names it adds a line for each test that failed, which test/run-alone.sh reads.
 */
module.exports = class PlainClosing extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const into = process.env.PLATEN_TEST_TIMES;
    if (!into) return;
    const begun = new Map();
    runner.on(Runner.constants.EVENT_SUITE_BEGIN, (suite) => {
      begun.set(suite, { atMs: performance.now(), usedMs: processorMs() });
    });
    runner.on(Runner.constants.EVENT_SUITE_END, (suite) => {
      if (!suite.parent?.root) return;
      const { atMs, usedMs } = begun.get(suite);
      const tookMs = Math.round(performance.now() - atMs);
      appendFileSync(into, `${tookMs} ${processorMs() - usedMs} ${relative(process.cwd(), suite.file)}\n`);
    });
  }

  epilogue() {
    super.epilogue();
    const { PLATEN_TEST_FAILED: into, PLATEN_CHROMIUM_PATH: browser = '' } = process.env;
    for (const test of this.failures) {
      const [wrong = ''] = String(test.err?.message ?? test.err).split('\n');
      const failed = `${test.fullTitle()}: ${wrong}`;
      console.log(`FAILED ${failed}`);
      if (into) appendFileSync(into, `${test.file ?? test.parent.file}\t${browser}\t${failed}\n`);
    }
    console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`);
  }
};

/** What this process and those of its descendants that have ended have used of processors, in milliseconds (proc(5), stat). */
function processorMs() {
  const MS_PER_TICK = 10;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
  return (user + system + childrenUser + childrenSystem) * MS_PER_TICK;
}
