/**
 * Runs a program as the build left it: its text in one file, and beside it what V8 made of that text, so that a start need not
 * parse and compile it: a third of its time. What another V8 made is not taken: then the text is compiled as ever.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

interface LoadedProgram {
  readonly script: Script
  /** Resolves as the program's `done`. */
  run(): Promise<unknown>
}

/** As Node calls a CommonJS module. */
type Program = (
  ...given: readonly [
    exports: object,
    require: NodeJS.Require,
    module: object,
    file: string,
    folder: string,
  ]
) => void

/** `url`: of its text, a function expression of the kind above, in ASCII. */
export function loadProgram(url: URL): LoadedProgram {
  const file = fileURLToPath(url)
  const cachedData = readIfThere(cacheFileOf(file))
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...(cachedData ? { cachedData } : {}),
  })
  return {
    script,
    run: async () => {
      const module: { readonly exports: { readonly done?: Promise<unknown> } } = { exports: {} }
      const program = script.runInThisContext() as Program // as the build wrote it
      program(module.exports, createRequire(file), module, file, dirname(file))
      return module.exports.done
    },
  }
}

export function cacheFileOf(file: string): string {
  return `${file}.cache`
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
