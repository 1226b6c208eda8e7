/* global __dirname */
// A server reduced to its embedded backends, to be killed by the suite beside it: `server.cjs <home> [throw-away]`.
const { join } = require('node:path');

const { startEmbedded } = require(join(__dirname, '../../../dist/src/infrastructure/embedded/embedded.js'));
const [home, throwAway] = process.argv.slice(2);
const need = { postgres: true, redis: true, eventstore: false };

startEmbedded({ home, need, log: () => undefined, throwAway: throwAway !== undefined }).then(
  ({ databaseUrl, redisUrl }) => console.log(JSON.stringify({ databaseUrl, redisUrl })),
  (error) => {
    console.log(JSON.stringify({ refused: error.message }));
    process.exitCode = 1;
  },
);
