/** Reads a command's input: a file, standard input, `--data`. Unreadable input is a usage error (exit 2). */
import { isUtf8 } from 'node:buffer'
import { open, readFile } from 'node:fs/promises'
import { isFields, parseJson, type Fields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import type { System } from './verb.js'

/** The API accepts bodies of up to 10 MiB (docs/behaviour.md, Calls). */
const inputLimitBytes = 16 * 1024 * 1024

/** A file's content in the form of the API. */
export interface Source {
  readonly source: string
  /** True if the source is base64. */
  readonly encoded: boolean
}

/** `path`: `-` means standard input. */
export async function readBytes(path: string, { stdin }: System): Promise<Buffer> {
  if (path === '-') return readAll(stdin)
  try {
    return await readFile(path)
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** Accepts JSON, `@FILE` or `-`; undefined yields an empty object. */
export async function readData(text: string | undefined, system: System): Promise<Fields> {
  if (text === undefined) return {}
  const given =
    text === '-' || text.startsWith('@')
      ? (await readBytes(text === '-' ? '-' : text.slice(1), system)).toString('utf8')
      : text
  const value = parseJson(given)
  if (!isFields(value))
    throw usageError('--data is not a JSON object; expected one like {"name": "web"}')
  return value
}

/** Accepts the text itself, `@FILE` or `-`. */
export async function readSource(text: string, system: System): Promise<Source> {
  if (text === '-') return toSource(await readBytes('-', system))
  if (text.startsWith('@')) return toSource(await readBytes(text.slice(1), system))
  return { source: text, encoded: false }
}

/** Content that is not UTF-8, or contains a NUL that no store keeps as text, is sent as base64. */
export function toSource(bytes: Buffer): Source {
  return isUtf8(bytes) && !bytes.includes(0)
    ? { source: bytes.toString('utf8'), encoded: false }
    : { source: bytes.toString('base64'), encoded: true }
}

/** Returns the first line without its line ending. Warns if other users can read the file. */
export async function readSecretFile(path: string, { stderr }: System): Promise<string> {
  try {
    const handle = await open(path, 'r')
    try {
      const status = await handle.stat()
      if (status.isFile() && (status.mode & 0o077) !== 0)
        stderr.write(`cachefleet: warning: others may read ${path}; its mode should be 0600\n`)
      return firstLine(await handle.readFile('utf8'), path)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw unreadable(path, error)
    throw error
  }
}

export async function readSecretInput(system: System): Promise<string> {
  const [secret = ''] = await readSecretLines(system, 1)
  return secret
}

/** The first lines of standard input, one secret per line. */
export async function readSecretLines(
  { stdin }: System,
  count: number,
): Promise<readonly string[]> {
  const lines = (await readAll(stdin)).toString('utf8').split(/\r?\n/)
  return Array.from({ length: count }, (_, index) => {
    const where = index === 0 ? 'standard input' : `line ${index + 1} of standard input`
    return firstLine(lines[index] ?? '', where)
  })
}

function firstLine(text: string, where: string): string {
  const [line = ''] = text.split(/\r?\n/)
  if (line === '') throw usageError(`The first line of ${where} is empty`)
  return line
}

async function readAll(stdin: NodeJS.ReadStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    // no encoding is set, so these are buffers
    sizeBytes += chunk.length
    if (sizeBytes > inputLimitBytes)
      throw usageError(`Standard input is over ${inputLimitBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function unreadable(path: string, error: unknown): Error {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  const words: Readonly<Record<string, string>> = {
    ENOENT: 'no such file',
    EACCES: 'you may not read it',
    EISDIR: 'it is a folder',
    ENOTDIR: 'it is not a folder',
  }
  return usageError(`Cannot read ${path}: ${words[reason] ?? reason}`)
}
