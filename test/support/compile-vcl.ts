/** The real compiler without a cache: `varnishd -C` reads, compiles to C and ends, some 10 ms for a small text. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheProgram } from './cache-program.js'

export interface Compiled {
  readonly ok: boolean
  /** What the compiler said, with the name that a text sent by `vcl.inline` has. */
  readonly text: string
}

const run = promisify(execFile)

/** A folder of its own for each test file; `remove` takes it away. */
export async function createCompiler(): Promise<{
  compile: (vcl: string) => Promise<Compiled>
  remove: () => Promise<void>
}> {
  const folder = await mkdtemp(join(tmpdir(), 'compile-'))
  // Started by root, varnishd reads as a user of its own.
  await chmod(folder, 0o755)
  const file = join(folder, 'sent.vcl')
  return {
    compile: async (vcl) => {
      await writeFile(file, vcl)
      const args = ['-n', join(folder, 'work'), '-C', '-f', file]
      try {
        await run(cacheProgram.daemon, args, { maxBuffer: 64 << 20 })
        return { ok: true, text: '' }
      } catch (error) {
        // execFile rejects with what the program wrote.
        const { stderr } = error as { stderr: string }
        return { ok: false, text: stderr.replaceAll(`'${file}'`, "'<vcl.inline>'") }
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
