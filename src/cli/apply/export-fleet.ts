/** `cachefleet export DIR`: writes an organization's objects as a folder of documents; applying it changes nothing. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { findNameProblem } from '../../resources/names.js'
import type { Api } from '../api.js'
import { idOf } from '../api-shapes.js'
import { CliError, exitCodes, usageError } from '../cli-error.js'
import { textFlag, word, type Invocation } from '../verb.js'
import { applyKinds, type PresentObject } from './apply-objects.js'
import { planApply } from './apply-plan.js'
import { maxDocuments } from './documents.js'
import { chooseFileNames, toDocument } from './export-documents.js'
import { requireAll } from './may-apply.js'
import { readPresent } from './present.js'
import { describeStep } from './show-plan.js'

const sourceFolder = 'vcl'
const documentFile = 'fleet.yaml'

export async function exportFleet(invocation: Invocation): Promise<undefined> {
  const folder = word(invocation, 0)
  await requireNew(folder)
  const api = await invocation.openApi()
  const whoami = await api.readObject('/auth/whoami')
  requireAll(
    whoami,
    applyKinds.map((type) => ({ type, access: 'read' })),
  )
  const { objects, sharedTags } = await readPresent(
    api,
    new Set(applyKinds),
    idOf(whoami['organization']),
  )
  const own = objects.filter(({ isOfConsole }) => isOfConsole !== true)
  const { set, chosen } = chooseSet(own, textFlag(invocation, 'set'), basename(resolve(folder)))
  if (chosen.length + 1 > maxDocuments)
    throw usageError(
      `There are ${chosen.length} objects, and apply takes ${maxDocuments - 1}: export one set at a time (--set)`,
    )
  await writeFolder(folder, set, chosen, api)
  const tags = new Set(sharedTags.keys())
  const present = objects
  const { steps } = planApply({
    set,
    wanted: chosen,
    present,
    sharedTags: tags,
    prune: false,
    adopt: false,
  })
  const notes = [
    ...steps.map((step) => `apply would ${describeStep(step)}: its deploy is not of now`),
    ...findOldPins(chosen),
    ...(own.length < objects.length
      ? ['groups of the console are left out: apply takes none']
      : []),
  ]
  for (const note of notes) invocation.system.stderr.write(`cachefleet: note: ${note}\n`)
  invocation.output.notify(`${chosen.length} objects are in ${folder}`)
}

/** Reports pinned old versions: the folder contains only the newest text of each file. */
function findOldPins(objects: readonly PresentObject[]): readonly string[] {
  const versions = new Map(
    objects.flatMap(({ kind, name, version }) => (kind === 'file' ? [[name, version]] : [])),
  )
  return objects.flatMap(({ kind, name, fields }) => {
    const { mainVCL, mainVersion = null } = fields
    const isOld = kind === 'vclgroup' && mainVersion !== null
    if (!isOld || versions.get(String(mainVCL)) === mainVersion) return []
    return [
      `vclgroup ${JSON.stringify(name)} names version ${String(mainVersion)} of ${String(mainVCL)}; the folder has the newest text`,
    ]
  })
}

async function requireNew(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw usageError(`${folder} cannot be used: ${String(error)}`)
  })
  if (names.length > 0) throw usageError(`${folder} is not empty; name a new folder`)
}

interface Chosen {
  readonly set: string
  readonly chosen: readonly PresentObject[]
}

/** An object belongs to at most one set, and a folder describes one set. */
function chooseSet(
  objects: readonly PresentObject[],
  asked: string | undefined,
  folderName: string,
): Chosen {
  const sets = [...new Set(objects.flatMap(({ managedBy }) => managedBy ?? []))].toSorted()
  if (asked !== undefined) {
    const chosen = objects.filter(({ managedBy }) => managedBy === asked)
    if (chosen.length > 0) return { set: asked, chosen }
    throw new CliError(exitCodes.refused, `Nothing belongs to the set ${JSON.stringify(asked)}`)
  }
  if (sets.length > 1)
    throw usageError(`There are several sets (${sets.join(', ')}): export each with --set NAME`)
  const set = sets[0] ?? folderName
  const problem = findNameProblem(set)
  if (problem !== null) throw usageError(`The folder gives the set its name: ${problem}`)
  return { set, chosen: objects }
}

/** Writes the sources first, so that an interrupted export has no documents and cannot be applied. */
async function writeFolder(
  folder: string,
  set: string,
  objects: readonly PresentObject[],
  api: Api,
): Promise<void> {
  await mkdir(join(folder, sourceFolder), { recursive: true })
  const files = objects.filter(({ kind }) => kind === 'file')
  const paths = chooseFileNames(files.map(({ name }) => name))
  for (const { id, name } of files) {
    const { source, encoded } = await api.readObject(`/files/${id}`)
    const bytes = Buffer.from(String(source), encoded === true ? 'base64' : 'utf8')
    await writeFile(join(folder, sourceFolder, paths.get(name) ?? ''), bytes)
  }
  const { stringify } = await import('yaml')
  const documents = objects
    .toSorted((a, b) => applyKinds.indexOf(a.kind) - applyKinds.indexOf(b.kind))
    .map((object) => toDocument(object, `@${sourceFolder}/${paths.get(object.name) ?? ''}`))
  const texts = [{ kind: 'set', name: set }, ...documents].map((document) => stringify(document))
  await writeFile(join(folder, documentFile), texts.join('---\n'))
}
