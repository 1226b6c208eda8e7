/* global __dirname */
const { join, relative, sep } = require('node:path');

const root = join(__dirname, '..');
const fast = ['architecture', 'domain', 'application', 'projections'];

/** Suites that use memory only and so need no backends. */
exports.isFast = (path) => fast.includes(relative(root, path).split(sep)[0]);
