// Runs one service of npm `emulate`: node emulate.mjs FOLDER SERVICE HOST SEED, where FOLDER has `emulate` in its
// `node_modules`, HOST is the name that its answers link to, and SEED is the world that it starts with, as JSON. Says where
// it listens as `{"ports": [PORT]}`.
import { pathToFileURL } from "node:url";
import { say } from "./loopback.mjs";

const [folder, service, host, seed] = process.argv.slice(2);
const { createEmulator } = await import(pathToFileURL(`${folder}/node_modules/emulate/dist/api.js`));
const baseUrl = `https://${host}`;
await createEmulator({ service, port: 0, baseUrl, seed: JSON.parse(seed) });
await say(1);
