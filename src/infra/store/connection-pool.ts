/**
 * Changes how often MongoDB's driver looks whether its pool has the connections that it has at least. Version 7 looks ten
 * times a second, and has no option for that: this alone took an idle process one to two milliseconds of a processor a
 * second. Platen asks for no least number of connections, so that all it finds are connections that have become old, which
 * are also found when one is taken.
 */
import { ConnectionPool } from 'mongodb/lib/cmap/connection_pool.js';

const CHECK_EVERY_MS = 10_000;

const ensureMinPoolSize = ConnectionPool.prototype.ensureMinPoolSize;

ConnectionPool.prototype.ensureMinPoolSize = function () {
  // An URI may ask for some: their number is reached by one connection a check.
  if (this.options.minPoolSize === 0 && this.options.minPoolSizeCheckFrequencyMS !== CHECK_EVERY_MS)
    this.options = Object.freeze({ ...this.options, minPoolSizeCheckFrequencyMS: CHECK_EVERY_MS });
  ensureMinPoolSize.call(this);
};
