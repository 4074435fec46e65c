/** `files compile`: compiles local files, stored files, or both on a cache, without storing anything. */
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isFields, nameOf, requireFields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { findIds, splitNames } from './find-object.js'
import { readBytes, toSource } from './given-text.js'
import { readLocalIncludes } from './test/local-includes.js'
import { withClock } from './status-line.js'
import { showText } from './output.js'
import { isSet, textFlag, word, type Invocation, type Named } from './verb.js'
import type { Api } from './api.js'

/** A single load may take 120 s (docs/behaviour.md, Deploy); the rest is time for the response. */
const timeoutMs = 180_000

export async function compileFiles(
  invocation: Invocation,
  { file, agent }: { readonly file: Named; readonly agent: Named },
): Promise<undefined> {
  const api = await invocation.openApi()
  const includes = splitNames(textFlag(invocation, 'includes') ?? '')
  const [mainVCL, ...rest] = await readFiles(invocation, api, file, [
    word(invocation, 0),
    ...includes,
  ])
  const agents = splitNames(textFlag(invocation, 'agents') ?? '')
  const ids = (await findIds(api, agent, agents)).map((id) => ({ id: Number(id) }))
  const call = {
    method: 'POST',
    path: `${file.path}/compile`,
    timeoutMs,
    body: {
      mainVCL,
      includes: rest,
      root: !isSet(invocation, 'domains'),
      ...(ids.length > 0 ? { agents: ids } : {}),
    },
  } as const
  const { stderr } = invocation.system
  const { body } = await withClock(stderr, 'compiling', () => api.call(call))
  const names = readNames(requireFields(body)['agents'])
  showText(invocation.output, `compiles on ${names.join(', ')}\n`, body)
}

type LooseFile = { readonly id: number } | { readonly name: string; readonly source: string }

/**
 * Reads each text as a path if such a file exists, as standard input if it is `-`, otherwise as the id or name of a stored file. Files that
 * a local main file includes from its own folder need not be named.
 */
async function readFiles(
  { system }: Invocation,
  api: Api,
  file: Named,
  texts: readonly string[],
): Promise<readonly LooseFile[]> {
  const stored = texts.filter((text) => !isLocal(text))
  const ids = (await findIds(api, file, stored)).values()
  const files: LooseFile[] = []
  for (const text of texts) {
    if (!isLocal(text)) files.push({ id: Number(ids.next().value) })
    else {
      const { source, encoded } = toSource(await readBytes(text, system))
      if (encoded) throw usageError(`${text} is not a text file`)
      files.push({ name: text === '-' ? 'standard input' : basename(text), source })
    }
  }
  const [main = ''] = texts
  return main === '-' || !isLocal(main)
    ? files
    : [...files, ...(await readBeside(api, dirname(main), files))]
}

function isLocal(text: string): boolean {
  return text === '-' || existsSync(text)
}

/** Reads includes that were not named. The coordinator resolves or refuses includes that are not in the folder. */
async function readBeside(
  api: Api,
  folder: string,
  files: readonly LooseFile[],
): Promise<readonly LooseFile[]> {
  const local = files.flatMap((file) => ('id' in file ? [] : [file]))
  const ids = files.flatMap((file) => ('id' in file ? [file.id] : []))
  const stored = ids.length === 0 ? [] : await api.readList('/files', { id: ids.join() })
  const given = [...local, ...stored].map((file) => nameOf(file) ?? '')
  const texts = local.map(({ name, source: text }) => ({ name, text }))
  const { found } = await readLocalIncludes(folder, texts, new Set(given))
  return [...found.values()].map(({ name, text: source }) => ({ name, source }))
}

function readNames(agents: unknown): readonly string[] {
  if (!Array.isArray(agents)) return []
  return agents.flatMap((agent: unknown) => (isFields(agent) ? [String(agent['name'])] : []))
}
