/** The real compiler without a cache: `varnishd -C` parses, compiles to C and ends, some 10 ms for a small text. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheProgram } from './cache-program.js'

export interface Compiled {
  readonly ok: boolean
  /** The compiler's message, with the file name of a text sent by `vcl.inline`. */
  readonly text: string
}

const run = promisify(execFile)

/** Each test file has its own folder; `remove` deletes it. */
export async function createCompiler(): Promise<{
  compile: (vcl: string) => Promise<Compiled>
  remove: () => Promise<void>
}> {
  const folder = await mkdtemp(join(tmpdir(), 'compile-'))
  // Started by root, varnishd reads the file as its own user.
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
        // execFile rejects with the program's output.
        const { stderr } = error as { stderr: string }
        return { ok: false, text: stderr.replaceAll(`'${file}'`, "'<vcl.inline>'") }
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
