/** `keep-compiled.mjs FILE WORDS…`: runs a built program with these words, and keeps what V8 compiled of its parts meanwhile beside them. */
import { writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const [node, , file, ...words] = process.argv
/** An agent has linked itself to the coordinator by then; what it did not come to is compiled at a start. */
const runMs = 1_000

process.argv = [node, file, ...words]
const { cacheFileOf, loadProgram } = await import('../dist/bin/load-program.js')
const { scripts, run } = loadProgram(pathToFileURL(file))
await run()
if (words.includes('--coordinator')) await pause(runMs)
for (const [part, script] of scripts) writeFileSync(cacheFileOf(part), script.createCachedData())
process.exit(0)
