/**
 * Rebuilds the files of the VCL that a cache runs. `vcl.show -v` prints the text of every file in the order in which the compiler read it;
 * this module matches these texts to their include statements. Pure. The files get new names, and the include statements use them;
 * everything else stays as written.
 */
import { matchesGlob } from '../resources/glob.js'
import { bundleInSteps, type Bundle, type VclText } from './bundle.js'
import { lexVcl, type Token } from './lexer.js'
import { flattenedLimitBytes } from './limits.js'

/** One file as the cache read it. */
export interface VclPart {
  /** Path on the cache's host, or the compiler's name for it (`<vcl.inline>`). */
  readonly file: string
  readonly text: string
}

export interface RebuiltVcl {
  readonly ok: true
  readonly main: VclText
  /** Each file once, after the files that it includes. */
  readonly includes: readonly VclText[]
  /** The text that the cache gets when the VCL is loaded again. Independent of the file names. */
  readonly bundle: Bundle
}

interface NotRebuilt {
  readonly ok: false
  /** Why the files cannot be rebuilt; for people. */
  readonly reason: string
}

/** Names have at most 255 characters (docs/behaviour.md, Names). */
const nameLimit = 255

/** Takes some milliseconds. */
const tokensInStep = 10_000

/**
 * Yields between parts, none of which takes long.
 *
 * @param parts all files except the built-in VCL, main file first
 * @param name of the main file, without extension; included files use it as their folder
 */
export function* rebuildInSteps(
  parts: readonly VclPart[],
  name: string,
): Generator<void, RebuiltVcl | NotRebuilt, void> {
  const work: Rebuilding = { parts, name, next: 0, files: new Map(), taken: new Map() }
  const [first] = parts
  if (!first || first.text.trim() === '') return refuse('the cache shows no source of it')
  // The flattened text contains all files except the include statements.
  const length = parts.reduce((sum, { text }) => sum + text.length, 0)
  if (length > 2 * flattenedLimitBytes)
    return refuse(`its files have ${length} characters; ${flattenedLimitBytes} bytes are the most`)
  try {
    const main = { name: `${name}.vcl`, text: yield* rebuildNext(work) }
    const left = parts[work.next]
    if (left) return refuse(`nothing includes ${left.file}, which the cache lists with it`)
    const files = new Map([...work.files.values()].map((file) => [file.name, file]))
    const bundle = yield* bundleInSteps(main, files, { allowedExternal: new Set(), modules: null })
    if (!bundle.ok) return refuse(bundle.errors.join('\n'))
    return { ok: true, main, includes: [...files.values()], bundle }
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error
    return refuse(error.message)
  }
}

/** Ends the walk at any depth of nested files. */
class Mismatch extends Error {}

function refuse(reason: string): NotRebuilt {
  return { ok: false, reason }
}

interface Rebuilding {
  readonly parts: readonly VclPart[]
  readonly name: string
  /** Index of the part that the next include statement refers to. */
  next: number
  /** Keyed by path and rebuilt text: a file that is included twice is one file. */
  readonly files: Map<string, VclText>
  /** Assigned names, with the key of their file. */
  readonly taken: Map<string, string>
}

/** Returns the text of the next part, with its include statements renamed. */
function* rebuildNext(work: Rebuilding): Generator<void, string, void> {
  const part = work.parts[work.next]
  if (!part) throw new Mismatch('the cache lists fewer files than are included')
  work.next += 1
  let text = ''
  let from = 0
  for (const statement of findIncludes(part)) {
    yield
    if (statement === null) continue
    const names = yield* takeIncluded(work, part, statement)
    text += part.text.slice(from, statement.start)
    text += names.map((name) => `include "${name}"`).join('; ')
    from = statement.end
  }
  return text + part.text.slice(from)
}

interface Statement {
  readonly pattern: string
  readonly isGlob: boolean
  /** From the word `include` to the end of the string, in UTF-16 units. */
  readonly start: number
  readonly end: number
}

/** As in vcc_lex_include: the word, flags such as `+glob`, a string. Yields null to pause. */
function* findIncludes(part: VclPart): Generator<Statement | null> {
  let tokens = 0
  let start: number | null = null
  let isGlob = false
  let sign = ''
  for (const token of lexVcl(part.text)) {
    if (++tokens % tokensInStep === 0) yield null
    if (token.kind === 'error') throw new Mismatch(`${part.file}: ${token.value}`)
    if (start !== null && token.kind === 'string')
      yield { pattern: token.value, isGlob, start, end: token.end }
    if (sign !== '') isGlob = sign === '+' && token.text === 'glob'
    else if (isWord(token, 'include')) [start, isGlob] = [token.start, false]
    else if (!isSign(token)) start = null
    sign = start !== null && isSign(token) ? token.text : ''
  }
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'identifier' && token.text === word
}

function isSign({ text }: Token): boolean {
  return text === '+' || text === '-'
}

/** Rebuilds the file of an include statement, or all files that its pattern matches. */
function* takeIncluded(
  work: Rebuilding,
  parent: VclPart,
  statement: Statement,
): Generator<void, string[], void> {
  const names: string[] = []
  const matches = createMatch(parent, statement)
  for (;;) {
    const part = work.parts[work.next]
    const isIt = part !== undefined && matches(part.file)
    if (!isIt && names.length > 0) return names
    if (!isIt) throw new Mismatch(`${parent.file} includes ${describe(statement)}, ${found(part)}`)
    names.push(nameOf(work, part, yield* rebuildNext(work)))
    if (!statement.isGlob) return names
  }
}

function describe({ pattern }: Statement): string {
  return JSON.stringify(pattern.slice(0, nameLimit))
}

function found(part: VclPart | undefined): string {
  return part ? `but the cache lists ${part.file} there` : 'but the cache lists no such file'
}

/** `./x` is relative to the including file; other paths are absolute or were found in a folder of `vcl_path`. */
function createMatch(parent: VclPart, { pattern, isGlob }: Statement): (file: string) => boolean {
  const folder = parent.file.slice(0, Math.max(0, parent.file.lastIndexOf('/')))
  const path = pattern.startsWith('./') ? folder + pattern.slice(1) : pattern
  if (!isGlob) return (file) => file === path || (path[0] !== '/' && file.endsWith(`/${path}`))
  const wanted = path.split('/')
  return (file) => {
    const there = file.split('/')
    const tail = path.startsWith('/') ? there : there.slice(-wanted.length)
    return tail.length === wanted.length && wanted.every((one, at) => isMatch(one, tail[at] ?? ''))
  }
}

/** Matches one path segment like glob(3); a bracket set is treated as any one character. */
function isMatch(pattern: string, text: string): boolean {
  const wanted = (pattern.match(/\[!?\]?[^\]]*\]?|[^[]/gu) ?? []).flatMap((one) =>
    // An unterminated set is literal text.
    one.length > 1 && one.endsWith(']') ? '?' : Array.from(one),
  )
  return matchesGlob(wanted, text)
}

/** The path on the host, below the main file's folder; numbered if the path is too long, taken or invalid as a name. */
function nameOf(work: Rebuilding, part: VclPart, text: string): string {
  const key = JSON.stringify([part.file, text])
  const known = work.files.get(key)
  if (known) return known.name
  const path = part.file.replace(/^\/+/, '')
  const byPath = `${work.name}/${path}`
  const isName = byPath.length <= nameLimit && !/["\p{Cc}\u2028\u2029\p{Cs}]/u.test(byPath)
  const name =
    isName && !work.taken.has(byPath) ? byPath : `${work.name}/include-${work.files.size + 1}.vcl`
  work.taken.set(name, key)
  work.files.set(key, { name, text })
  return name
}

/** Finds the first `vcl(`, which passes a request to another VCL. Returns `<file> line <n>`, or null. Yields between parts. */
export function* findLabelUse(parts: readonly VclPart[]): Generator<void, string | null, void> {
  let tokens = 0
  for (const { file, text } of parts) {
    let before: Token | undefined
    for (const token of lexVcl(text)) {
      if (++tokens % tokensInStep === 0) yield
      if (token.text === '(' && isWord(before, 'vcl')) return `${file} line ${token.line}`
      before = token
    }
  }
  return null
}
