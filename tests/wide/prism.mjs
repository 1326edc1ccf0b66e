// Runs npm Prism as a validating proxy, as `prism proxy --errors` does: node prism.mjs FOLDER DESCRIPTION UPSTREAM, where
// FOLDER has the packages in its `node_modules`, DESCRIPTION is an OpenAPI file in there, and UPSTREAM is the URL that a
// request by the description goes on to. One that is not is answered and goes nowhere. Says where it listens.
import { createRequire } from "node:module";
import { say } from "./loopback.mjs";

const [folder, description, upstream] = process.argv.slice(2);
const require = createRequire(`${folder}/node_modules/@stoplight/prism-cli/package.json`);
const { createLogger } = require("@stoplight/prism-core");
const { getHttpOperationsFromSpec } = require("@stoplight/prism-http");
const { createServer } = require("@stoplight/prism-http-server");

const operations = await getHttpOperationsFromSpec(`${folder}/node_modules/${description}`);
const config = {
  isProxy: true,
  upstream: new URL(upstream),
  validateRequest: true,
  // What the stand-in behind it answers is another matter: the requests are held to the description.
  validateResponse: false,
  checkSecurity: true,
  errors: true,
  mock: { dynamic: false },
};
const logger = createLogger("prism", { level: "silent" });
await createServer(operations, { cors: false, config, components: { logger } }).listen(0, "127.0.0.1");
await say(1);
