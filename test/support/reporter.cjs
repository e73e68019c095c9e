const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { reporters, Runner } = require('mocha');

/**
 * Mocha's spec reporter, closing with a line for each test that failed, "FAILED title: what was wrong", so that nobody has to
 * look for them among thousands, and one plain line: "N passed, N failed". To the file that PLATEN_TEST_TIMES names it adds a
 * line for each file of tests, "milliseconds file", its hooks included.
 */
module.exports = class PlainClosing extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const into = process.env.PLATEN_TEST_TIMES;
    if (!into) return;
    const beganAtMs = new Map();
    runner.on(Runner.constants.EVENT_SUITE_BEGIN, (suite) => beganAtMs.set(suite, performance.now()));
    runner.on(Runner.constants.EVENT_SUITE_END, (suite) => {
      if (!suite.parent?.root) return;
      const tookMs = Math.round(performance.now() - beganAtMs.get(suite));
      appendFileSync(into, `${tookMs} ${relative(process.cwd(), suite.file)}\n`);
    });
  }

  epilogue() {
    super.epilogue();
    for (const test of this.failures) {
      const [wrong = ''] = String(test.err?.message ?? test.err).split('\n');
      console.log(`FAILED ${test.fullTitle()}: ${wrong}`);
    }
    console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`);
  }
};
