#!/usr/bin/env node
// Holds a service manifest and its cases against the service's own OpenAPI description: no path, parameter, body member
// or field is guessed.
//
//   node scripts/check-openapi.mjs [--self-test] MANIFEST.json OPENAPI.json
//
// GitHub's description is `generated/api.github.com.json` in the npm package `@octokit/openapi` (23); `describe/` has a program
// for each service of which only a client is published. Needs Node 20 and no package. Exit status: 0 all is described; 1 a fault, a self-test that caught nothing, or nothing to check; 2 usage.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { checkCases } from "./check-openapi/cases.mjs";
import { Description } from "./check-openapi/description.mjs";
import { checkManifest } from "./check-openapi/manifest.mjs";
import { selfTest } from "./check-openapi/self-test.mjs";

function main(args) {
  const files = args.filter((arg) => !arg.startsWith("--"));
  const flags = args.filter((arg) => arg.startsWith("--"));
  if (files.length !== 2 || flags.some((flag) => flag !== "--self-test")) {
    console.error("usage: node scripts/check-openapi.mjs [--self-test] MANIFEST.json OPENAPI.json");
    return 2;
  }
  const [file, described] = files;
  const manifest = readJson(file);
  const description = new Description(readJson(described));
  const cases = readCases(join(dirname(file), "cases"));
  const check = (one, its) => {
    const reports = [checkManifest(one, description), checkCases(one, description, its)];
    return { faults: reports.flatMap((report) => report.faults), checked: reports.reduce((sum, report) => sum + report.checked, 0) };
  };

  const { faults, checked } = check(manifest, cases);
  for (const { code, where, what } of faults) console.error(`${file}: ${code}: ${where}: ${what}`);
  const ops = Object.keys(manifest.ops).length;
  if (ops === 0 || cases.length === 0 || checked === 0) {
    console.error(`${file}: nothing was checked`);
    return 1;
  }
  if (faults.length > 0) return 1;
  console.log(`${file}: ${ops} ops and ${cases.length} cases, ${checked} checks, all described`);
  if (!flags.includes("--self-test")) return 0;

  const { missed, tried } = selfTest(manifest, cases, check);
  for (const line of missed) console.error(`self-test: ${line}`);
  if (missed.length === 0) console.log(`self-test: ${tried} faults put in, ${tried} caught`);
  return missed.length === 0 ? 0 : 1;
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function readCases(folder) {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();
  return names.map((name) => ({ name, content: readJson(join(folder, name)) }));
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  console.error(`check-openapi: ${error.message}`);
  process.exitCode = 1;
}
