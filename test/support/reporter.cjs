const { reporters } = require('mocha');

/** Mocha's spec reporter, closing with one plain line: "N passed, N failed". */
module.exports = class PlainClosing extends reporters.Spec {
  epilogue() {
    super.epilogue();
    console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`);
  }
};
