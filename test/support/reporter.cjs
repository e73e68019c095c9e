const { reporters, Runner } = require('mocha');

/** Mocha's spec reporter, closing with one plain line: "N passed, N failed". */
module.exports = class PlainClosing extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      // After the spec reporter's own listing of failures.
      setImmediate(() => console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`));
    });
  }
};
