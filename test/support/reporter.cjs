const { reporters, Runner } = require('mocha');

const firstLine = (error) => String(error?.message ?? error).split('\n', 1)[0];

/**
 * Mocha's spec reporter, closing with a line for each test that failed, "FAILED title: what was wrong", so that nobody has to
 * look for them among thousands, and one plain line: "N passed, N failed". Before them, "UNSTEADY title: what was wrong" for
 * each try that failed of a test that has more than one.
 */
module.exports = class PlainClosing extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    this.unsteady = [];
    runner.on(Runner.constants.EVENT_TEST_RETRY, (test, error) =>
      this.unsteady.push(`UNSTEADY ${test.fullTitle()}: ${firstLine(error)}`),
    );
  }

  epilogue() {
    super.epilogue();
    for (const line of this.unsteady) console.log(line);
    for (const test of this.failures) console.log(`FAILED ${test.fullTitle()}: ${firstLine(test.err)}`);
    console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`);
  }
};
