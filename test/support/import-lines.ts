/** The import lines of the project's own files. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { root } from './root.js'

export interface Import {
  readonly file: string
  /** A folder-relative path for our own files, else the package or `node:` name. */
  readonly target: string
  readonly isOwn: boolean
  /** Erased by the compiler, so it loads nothing. */
  readonly isTypeOnly: boolean
  /** `import()`: loaded on demand. */
  readonly isLater: boolean
}

export function listSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => relative(root, join(folder, name)))
}

export function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

export function readImports(file: string): Import[] {
  const pattern =
    /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm
  return [...read(file).matchAll(pattern)].map((match) => {
    const specifier = match[2] ?? match[3] ?? match[4] ?? ''
    const isOwn = specifier.startsWith('.')
    const target = isOwn ? toSource(resolve(root, dirname(file), specifier)) : specifier
    return {
      file,
      target,
      isOwn,
      isTypeOnly: match[1] !== undefined,
      isLater: match[4] !== undefined,
    }
  })
}

function toSource(compiled: string): string {
  const [source, withMarkup] = ['.ts', '.tsx'].map((end) => compiled.replace(/\.js$/, end))
  return relative(root, (withMarkup && existsSync(withMarkup) ? withMarkup : source) ?? compiled)
}
