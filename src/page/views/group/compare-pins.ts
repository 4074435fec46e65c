/** Compares two sets of files with their versions, and two sets of names. Pure functions. */
import type { Group, Pin, Pins } from '../../../resources/vclgroup.js'
import type { FleetFile } from '../../../resources/file.js'

export interface FileChange {
  readonly id: number
  readonly name: string
  readonly isMain: boolean
  /** Null: the file is new. */
  readonly from: number | null
  /** Null: the file is removed. */
  readonly to: number | null
}

/** Main files first. `before` is null if nothing was deployed yet. */
export function compareFiles(before: Pins | null, after: Pins | null): readonly FileChange[] {
  const changes = new Map<string, FileChange>()
  const key = (isMain: boolean, id: number): string => `${isMain ? 'main' : 'include'} ${id}`
  for (const { id, name, version, isMain } of listPins(before))
    changes.set(key(isMain, id), { id, name, isMain, from: version, to: null })
  for (const { id, name, version, isMain } of listPins(after)) {
    const from = changes.get(key(isMain, id))?.from ?? null
    changes.set(key(isMain, id), { id, name, isMain, from, to: version })
  }
  return [...changes.values()].sort((a, b) => Number(b.isMain) - Number(a.isMain))
}

function listPins(pins: Pins | null): readonly (Pin & { readonly isMain: boolean })[] {
  if (pins === null) return []
  return [
    { ...pins.mainVCL, isMain: true },
    ...pins.includes.map((pin) => ({ ...pin, isMain: false })),
  ]
}

export function isChanged({ from, to }: FileChange): boolean {
  return from !== to
}

/** Returns what the next deploy would pin; null if a version is not known (yet). */
export function pinGroup(
  { mainVCL, includes }: Pick<Group, 'mainVCL' | 'includes'>,
  files: readonly Pick<FleetFile, 'id' | 'version'>[],
): Pins | null {
  const newest = new Map(files.map(({ id, version }) => [id, version]))
  const mainVersion = mainVCL?.version ?? newest.get(mainVCL?.id ?? 0)
  if (!mainVCL || mainVersion === undefined) return null
  const pins = includes.flatMap(({ id, name }) => {
    const version = newest.get(id)
    return version === undefined ? [] : [{ id, name, version }]
  })
  if (pins.length < includes.length) return null
  const { id, name } = mainVCL
  return { mainVCL: { id, name, version: mainVersion }, includes: pins }
}

interface NameChange {
  readonly name: string
  readonly what: 'added' | 'removed' | 'kept'
}

export function compareNames(
  before: readonly string[],
  after: readonly string[],
): readonly NameChange[] {
  return [
    ...after.map((name) => ({ name, what: before.includes(name) ? 'kept' : 'added' }) as const),
    ...before
      .filter((name) => !after.includes(name))
      .map((name) => ({ name, what: 'removed' }) as const),
  ]
}
