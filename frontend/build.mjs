// Bundles the page of credo studio into src/credo/studio/static, with the licences of everything that is in it, and the
// script of shared pages into src/credo/sharing/static.
import { build } from "esbuild";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/credo/studio/static");

const result = await build({
  entryPoints: [join(here, "src/main.jsx")],
  outfile: join(target, "studio.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  charset: "utf8",
  metafile: true,
  legalComments: "none",
  define: { "process.env.NODE_ENV": '"production"' },
});
cpSync(join(here, "src/index.html"), join(target, "index.html"));
cpSync(join(here, "src/icon.svg"), join(target, "icon.svg"));

// The script and the style of a shared page: they stand in it, and use no package.
const shared = join(here, "../src/credo/sharing/static");
for (const [source, name] of [
  ["main.js", "share.js"],
  ["share.css", "share.css"],
])
  await build({ entryPoints: [join(here, "src/share", source)], outfile: join(shared, name), bundle: true, minify: true, format: "iife", target: "es2022", charset: "ascii", legalComments: "none" });

// The packages that are really in the bundle, each once, with its version and the text of its licence.
const packages = new Map();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//g);
  if (!found) continue;
  const folder = input.slice(0, input.lastIndexOf(found.at(-1)) + found.at(-1).length);
  const path = join(process.cwd(), folder);
  if (packages.has(path)) continue;
  const about = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  packages.set(path, { name: about.name, version: about.version, licence: about.license, text: file ? readFileSync(join(path, file), "utf8").trim() : "" });
}
const parts = [...packages.values()].sort((a, b) => a.name.localeCompare(b.name));
const heading = "The page of credo studio contains these packages.\n";
writeFileSync(
  join(target, "licences.txt"),
  [heading, ...parts.map((p) => `${"-".repeat(80)}\n${p.name} ${p.version} (${p.licence})\n\n${p.text}\n`)].join("\n"),
);
console.log(parts.map((p) => `${p.name} ${p.version} ${p.licence}${p.text ? "" : " NO TEXT"}`).join("\n"));
if (existsSync(join(here, "node_modules/axe-core/axe.min.js")) && process.argv.includes("--axe"))
  cpSync(join(here, "node_modules/axe-core/axe.min.js"), join(here, "../tests/studio/axe.min.js"));
