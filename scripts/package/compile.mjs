/**
 * `compile.mjs FILE…`, run by the runtime of a package: keeps beside each part of a built program what V8 made of its text
 * (src/load-program.ts reads it). Unlike scripts/keep-compiled.mjs it does not run the program, so that the result is the same each time.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { Script } from 'node:vm'

const files = process.argv.slice(2)
const scripts = files.map((file) => new Script(readFileSync(file, 'latin1')))
// Kept with it, and compared with those of whoever reads it.
for (const flag of ['--hash-seed=0', '--random-seed=0']) setFlagsFromString(flag)
for (const [index, script] of scripts.entries())
  writeFileSync(`${files[index]}.cache`, script.createCachedData())
