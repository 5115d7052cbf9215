// Khronos' validator over GLB files.
//
//     npm install gltf-validator            (anywhere; NODE_PATH or --modules says where)
//     node tests/openers/validate_gltf.mjs --modules /path/to/node_modules out/*.glb [--json FILE]
//
// Prints a line for each file: errors, warnings, infos, hints, and each code with its count. Ends with 1 where a file
// has an error or a warning.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";

const words = process.argv.slice(2);
const option = (name) => {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words.splice(at, 2)[1];
};
const modules = option("--modules");
const out = option("--json");
const require = createRequire(modules ? resolve(modules, "x.js") : import.meta.url);
let validator;
try {
  validator = require("gltf-validator");
} catch {
  console.error("gltf-validator is not there: npm install gltf-validator, and --modules PATH/node_modules");
  process.exit(2);
}
if (words.length === 0) {
  console.error("usage: node validate_gltf.mjs [--modules DIR] [--json FILE] FILE.glb ...");
  process.exit(2);
}
const results = [];
for (const file of words) {
  const bytes = new Uint8Array(readFileSync(file));
  const report = await validator.validateBytes(bytes, { uri: basename(file), maxIssues: 0 });
  const codes = {};
  for (const message of report.issues.messages) {
    const key = `${["error", "warning", "info", "hint"][message.severity]} ${message.code}`;
    codes[key] = codes[key] ?? { count: 0, first: `${message.pointer ?? ""} ${message.message}`.trim() };
    codes[key].count += 1;
  }
  const { numErrors, numWarnings, numInfos, numHints } = report.issues;
  const counts = { errors: numErrors, warnings: numWarnings, infos: numInfos, hints: numHints };
  results.push({ file, ...counts, codes, info: report.info });
  const list = Object.entries(codes).map(([k, v]) => `${k} x ${v.count} (${v.first})`);
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} infos, ${numHints} hints`
    + (list.length ? `; ${list.join("; ")}` : ""));
}
const sum = (key) => results.reduce((total, r) => total + r[key], 0);
const version = validator.version();
console.log(`${results.length} files, ${sum("errors")} errors, ${sum("warnings")} warnings (gltf-validator ${version})`);
if (out) writeFileSync(out, JSON.stringify(results, null, 1));
process.exit(sum("errors") + sum("warnings") ? 1 : 0);
