const { default: Sequencer } = require('@jest/test-sequencer');
const { isFast } = require('./fast-suites.cjs');

/** Suites without backends first: a broken rule shows within seconds. The rest in jest's own order. */
module.exports = class FastFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(({ path }) => isFast(path)), ...sorted.filter(({ path }) => !isFast(path))];
  }
};
