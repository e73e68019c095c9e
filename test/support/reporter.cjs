const { reporters } = require('mocha');

/**
 * Mocha's spec reporter, closing with a line for each test that failed, "FAILED title: what was wrong", so that nobody has to
 * look for them among thousands, and one plain line: "N passed, N failed".
 */
module.exports = class PlainClosing extends reporters.Spec {
  epilogue() {
    super.epilogue();
    for (const test of this.failures) {
      const [wrong = ''] = String(test.err?.message ?? test.err).split('\n');
      console.log(`FAILED ${test.fullTitle()}: ${wrong}`);
    }
    console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`);
  }
};
