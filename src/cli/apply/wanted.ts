/** Converts documents to the objects that they define: every key, value and name is checked here, before any API call. */
import { keyOf, type ApplyKind, type WantedObject } from './apply-objects.js'
import { findNameProblem } from '../../resources/names.js'
import type { Fields } from '../api-shapes.js'
import type { Source } from '../given-text.js'
import { deployments } from '../nouns/deployments.js'
import { domains } from '../nouns/domains.js'
import { files } from '../nouns/files.js'
import { tags } from '../nouns/tags.js'
import { vclGroups } from '../nouns/vclgroups.js'
import type { Field, Noun } from '../verb.js'
import type { Problems } from './problems.js'
import { messageOf, type FolderDocument } from './documents.js'
import { isFileFolder, readFileFolder } from './file-folders.js'
import type { Folder } from './folder.js'
import { readOnlyKeys } from './plain-fields.js'
import { readObject, readValue, type Values } from './values.js'

export interface WantedEntry {
  readonly object: WantedObject
  /** For a file. */
  readonly source: Source | undefined
  /** As in the document; undefined if absent. */
  readonly organization: unknown
  /** File and line of the field, or of the document if the field is absent. */
  readonly at: (field?: string) => string
}

interface WantedFolder {
  /** From the `kind: set` document. */
  readonly set: string | undefined
  readonly entries: readonly WantedEntry[]
}

export const nouns: Readonly<Record<ApplyKind, Noun>> = {
  tag: tags,
  file: files,
  domain: domains,
  deployment: deployments,
  vclgroup: vclGroups,
}

/** Document fields in addition to the noun's own. */
const extraFields: Readonly<Partial<Record<ApplyKind, readonly Field[]>>> = {
  file: [{ name: 'encoded', type: { kind: 'boolean' }, summary: 'the source is base64' }],
  vclgroup: [
    { name: 'deployed', type: { kind: 'boolean' }, summary: 'whether it shall be deployed' },
  ],
}

/** The fields of a document of this kind, except `kind`. */
export function fieldsOf(kind: ApplyKind): readonly Field[] {
  return [...nouns[kind].fields, ...(extraFields[kind] ?? [])]
}

export async function readWanted(
  folder: Folder,
  documents: readonly FolderDocument[],
  problems: Problems,
): Promise<WantedFolder> {
  const entries = new Map<string, WantedEntry>()
  let set: string | undefined
  for (const document of await expandFolders(folder, documents, problems)) {
    const kind = readKind(document, problems)
    if (kind === 'set') {
      if (set !== undefined) problems.add(document.at(), 'a second document of kind set')
      set = readSetName(document, problems)
    } else if (kind !== undefined) {
      const entry = await readEntry(folder, document, kind, problems)
      if (entry) keepEntry(entries, entry, problems)
    }
  }
  return { set, entries: [...entries.values()] }
}

async function expandFolders(
  folder: Folder,
  documents: readonly FolderDocument[],
  problems: Problems,
): Promise<readonly FolderDocument[]> {
  const expanded: FolderDocument[] = []
  for (const document of documents) {
    const [key = ''] = keysOf(document.values, 'kind')
    const isFolder =
      String(document.values[key]).toLowerCase() === 'files' && isFileFolder(document)
    if (isFolder) expanded.push(...(await readFileFolder(folder, document, problems)))
    else expanded.push(document)
  }
  return expanded
}

function keepEntry(
  entries: Map<string, WantedEntry>,
  entry: WantedEntry,
  problems: Problems,
): void {
  const { kind, name } = entry.object
  const key = keyOf(entry.object)
  const first = entries.get(key)
  if (first)
    problems.add(
      entry.at(),
      `${kind} ${JSON.stringify(name)} has a document already, ${first.at()}; remove one of them`,
    )
  else entries.set(key, entry)
}

const kindsKnown = [...Object.keys(nouns), 'files', 'set'].join(', ')

/** Accepts every spelling of the noun. */
function readKind(
  { values, at }: FolderDocument,
  problems: Problems,
): ApplyKind | 'set' | undefined {
  const [key] = keysOf(values, 'kind')
  const given = key === undefined ? undefined : values[key]
  if (key === undefined || typeof given !== 'string') {
    problems.add(at(key ?? ''), `kind is missing; it is one of ${kindsKnown}`)
    return undefined
  }
  const word = given.toLowerCase()
  if (word === 'set') return 'set'
  const [found] = Object.entries(nouns).find(
    ([kind, { name, aliases }]) => word === kind || word === name || aliases.includes(word),
  ) ?? [undefined]
  if (found === undefined)
    problems.add(at(key), `kind is ${JSON.stringify(given)}; it is one of ${kindsKnown}`)
  return found as ApplyKind | undefined // a key of nouns
}

function readSetName({ values, at }: FolderDocument, problems: Problems): string | undefined {
  const unknown = Object.keys(values).find((key) => !['kind', 'name'].includes(key.toLowerCase()))
  if (unknown !== undefined)
    problems.add(at(unknown), `${unknown} is not known here; known are kind, name`)
  const [key = 'name'] = keysOf(values, 'name')
  const name = values[key]
  const problem = typeof name === 'string' ? findNameProblem(name) : 'expected a text'
  if (problem !== null) problems.add(at(key), `name of the set: ${problem}`)
  return typeof name === 'string' ? name : undefined
}

async function readEntry(
  folder: Folder,
  document: FolderDocument,
  kind: ApplyKind,
  problems: Problems,
): Promise<WantedEntry | undefined> {
  const { values, at } = document
  const fields = fieldsOf(kind)
  const known = new Map(
    [...fields.map(({ name }) => name), ...readOnlyKeys(kind), 'kind', 'organization'].map(
      (name) => [name.toLowerCase(), name],
    ),
  )
  const written = new Map<string, string>()
  const before = problems.count
  for (const key of Object.keys(values)) {
    const name = known.get(key.toLowerCase())
    if (name === undefined)
      problems.add(at(key), `${key} is not known here; known are ${namesOf(fields)}`)
    else if (written.has(name))
      problems.add(at(key), `${name} is given twice, in different case; give it once`)
    else written.set(name, key)
  }
  const read: Values = new Map()
  for (const field of fields) {
    const key = written.get(field.name)
    if (key === undefined || values[key] === null) continue
    try {
      read.set(field.name, await readValue(folder, field, values[key]))
    } catch (error) {
      problems.add(at(key), `${field.name}: ${messageOf(error)}`)
    }
  }
  if (problems.count > before) return undefined
  const where = (field = ''): string => {
    const key = written.get(field)
    return key === undefined ? at() : at(key)
  }
  try {
    const { object, source } = readObject(kind, read)
    const organization = values[written.get('organization') ?? '']
    return { object, source, organization, at: where }
  } catch (error) {
    problems.add(at(), messageOf(error))
    return undefined
  }
}

function keysOf(values: Fields, name: string): readonly string[] {
  return Object.keys(values).filter((key) => key.toLowerCase() === name)
}

function namesOf(fields: readonly Field[]): string {
  return ['kind', ...fields.map(({ name }) => name)].join(', ')
}
