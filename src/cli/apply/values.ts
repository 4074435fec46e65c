/** Reads one document's values in the form of the API, and builds the object that they define, with the API's defaults. */
import { domainToASCII } from 'node:url'
import type { ApplyFields, ApplyKind, WantedObject } from './apply-objects.js'
import { findCountsProblem } from '../../resources/deployment.js'
import { parseDomainName } from '../../resources/domain-name.js'
import { fileTypes } from '../../resources/file.js'
import { findNameProblem } from '../../resources/names.js'
import type { TextForm } from '../../resources/resource.js'
import { defaultContentType, defaultFileType, isFileType, readFileContent } from '../../vcl/file.js'
import { readTestFile } from '../../test-files/read-test-file.js'
import { isFields } from '../api-shapes.js'
import { toSource, type Source } from '../given-text.js'
import type { Field } from '../verb.js'
import type { Folder } from './folder.js'
import { mapReferences, readPlainFields } from './plain-fields.js'

/** Keyed by field; fields that the document omits or sets to null are absent. */
export type Values = Map<string, FieldRead>
type FieldRead = string | number | boolean | readonly string[] | Source | Versioned

/** A main file, optionally pinned to a version. */
interface Versioned {
  readonly name: string
  readonly version: number | null
}

/** Throws an Error that names what is expected. */
export async function readValue(
  folder: Folder,
  { type }: Field,
  value: unknown,
): Promise<FieldRead> {
  switch (type.kind) {
    case 'text':
      return requireText(value)
    case 'integer':
      return requireInteger(value)
    case 'boolean':
      return requireBoolean(value)
    case 'source':
      return readSource(folder, requireText(value))
    case 'reference':
      return readReference(value)
    case 'references':
      return readReferences(value)
    case 'words':
      return readWords(value, type.form)
    case 'moment':
    case 'numbers':
    case 'grants':
      throw new Error('no document has such a field')
  }
}

/** `@FILE` stands for the file's bytes. */
async function readSource(folder: Folder, text: string): Promise<string | Source> {
  if (!text.startsWith('@')) return text
  const path = text.slice(1)
  try {
    return toSource(await folder.readFile(path))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${path}: ${reason}`, { cause: error })
  }
}

/** Accepts a name or a reference as the API returns it. Only the name counts: ids differ between coordinators. */
function readReference(value: unknown): Versioned {
  if (!isFields(value)) return { name: requireText(value), version: null }
  const unknown = Object.keys(value).find((key) => !/^(id|name|fqdn|version)$/i.test(key))
  if (unknown !== undefined)
    throw new Error(`${unknown} is not known in a reference; known are name, fqdn, version`)
  const version = value['version'] ?? null
  if (version !== null && !(Number.isSafeInteger(version) && Number(version) >= 1))
    throw wrong(version, 'expected a whole number from 1')
  return {
    name: requireText(value['name'] ?? value['fqdn']),
    version: version === null ? null : Number(version),
  }
}

function readReferences(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw wrong(value, 'expected a list of names')
  return [...new Set(value.map((item: unknown) => readReference(item).name))]
}

/** Throws an Error that names what is expected. */
export function readObject(
  kind: ApplyKind,
  values: Values,
): { readonly object: WantedObject; readonly source?: Source } {
  if (kind === 'domain') {
    const name = parseDomainName(requireName(values, 'fqdn'), domainToASCII)
    return { object: { kind, name, fields: {} } }
  }
  const name = requireName(values, 'name')
  const problem = findNameProblem(name)
  if (problem !== null) throw new Error(`name: ${problem}`)
  if (kind === 'file') return readFileObject(name, values)
  const fields = {
    ...readPlainFields(kind, (field) => values.get(field)),
    ...mapReferences(kind, (field, of) => listOf(values, field, of)),
  }
  if (kind === 'deployment') checkDeployment(fields)
  if (kind !== 'vclgroup') return { object: { kind, name, fields } }
  const main = values.get('mainVCL')
  if (main === undefined || !isVersioned(main)) throw missing('mainVCL')
  checkRoot(values, fields)
  const deployed = values.get('deployed')
  return {
    object: {
      kind,
      name,
      fields: { ...fields, mainVCL: main.name, mainVersion: main.version },
      ...(typeof deployed === 'boolean' && { deployed }),
    },
  }
}

function readFileObject(
  name: string,
  values: Values,
): { readonly object: WantedObject; readonly source: Source } {
  const given = values.get('source')
  if (given === undefined) throw missing('source')
  const encoded = values.get('encoded')
  if (typeof given !== 'string' && encoded !== undefined)
    throw new Error('encoded: it is for a source that stands in the document, not for @FILE')
  const source =
    typeof given === 'string' ? { source: given, encoded: encoded === true } : requireSource(given)
  const read = readFileContent(source)
  if (!read.ok) throw new Error(`source: ${read.problem}`)
  const fileType = values.get('fileType') ?? defaultFileType(read.content)
  if (!isFileType(fileType))
    throw new Error('fileType: expected 1 (main), 2 (include), 3 (other) or 4 (test of VCL)')
  if (fileType === fileTypes.test) requireTest(read.content.text)
  const contentType = values.get('contentType') ?? defaultContentType(source.encoded)
  if (typeof contentType !== 'string') throw missing('contentType')
  const fields = { sha: read.content.sha, contentType, fileType }
  return { object: { kind: 'file', name, fields }, source }
}

/** The same check as the coordinator's on write. */
function requireTest(text: string | null): void {
  if (text === null) throw new Error('source: a test of VCL is a text file')
  const test = readTestFile(text)
  if (test.ok) return
  const problems = test.problems.map(({ line, message }) => `line ${line}: ${message}`)
  throw new Error(`source: ${problems.join('; ')}`)
}

function checkDeployment({ min, max, tags }: ApplyFields): void {
  const problem = findCountsProblem(Number(min), Number(max))
  if (problem !== null) throw new Error(problem)
  if (Array.isArray(tags) && tags.length === 0)
    throw new Error('tags: a deployment has at least one')
}

function checkRoot(values: Values, { domains }: ApplyFields): void {
  const count = Array.isArray(domains) ? domains.length : 0
  const root = values.get('root')
  if (typeof root === 'boolean' && root !== (count === 0))
    throw new Error(
      `root is ${root}, and the group has ${count} domains; leave root out, it follows them`,
    )
}

/** The order of references has no meaning in the API, so they are sorted: a new order is not a change. */
function listOf(values: Values, field: string, of: ApplyKind): readonly string[] {
  const value = values.get(field)
  const names = Array.isArray(value) ? value.map(String) : []
  const stored = of === 'domain' ? names.map((name) => parseDomainName(name, domainToASCII)) : names
  return [...new Set(stored)].toSorted()
}

function readWords(value: unknown, form: TextForm | undefined): readonly string[] {
  if (!Array.isArray(value)) throw wrong(value, 'expected a list of texts')
  return value.map((item: unknown) => {
    const word = requireText(item)
    if (form?.pattern.test(word) === false) throw wrong(word, `expected ${form.right}`)
    return word
  })
}

function requireName(values: Values, field: string): string {
  const name = values.get(field)
  if (typeof name !== 'string') throw missing(field)
  return name
}

function requireText(value: unknown): string {
  if (typeof value === 'string') return value
  throw wrong(value, 'expected a text; quote it where it looks like something else')
}

function requireInteger(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw wrong(value, 'expected a whole number')
}

function requireBoolean(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw wrong(value, 'expected true or false')
}

function requireSource(value: FieldRead): Source {
  if (typeof value === 'object' && 'encoded' in value) return value
  throw wrong(value, 'expected a text or @FILE')
}

function isVersioned(value: FieldRead): value is Versioned {
  return typeof value === 'object' && 'version' in value
}

function wrong(value: unknown, right: string): Error {
  const shown = value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80)
  return new Error(`it is ${shown}; ${right}`)
}

function missing(field: string): Error {
  return new Error(`${field} is missing; it is required`)
}
