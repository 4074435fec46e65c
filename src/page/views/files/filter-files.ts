/** Filters files by the filters in the URL, and finds the groups that use them. Pure functions. */
import type { Group } from '../../../resources/vclgroup.js'
import type { FleetFile } from '../../../resources/file.js'

export const fileTypeNames = { 1: 'Main', 2: 'Include', 3: 'Other', 4: 'Test' } as const

interface FileFilter {
  /** Lower-case text that the name contains. */
  readonly text: string
  /** The number of a type; empty: all. */
  readonly type: string
}

export function filterFiles<T extends Pick<FleetFile, 'name' | 'fileType'>>(
  files: readonly T[],
  { text, type }: FileFilter,
): readonly T[] {
  return files.filter(
    ({ name, fileType }) =>
      (type === '' || String(fileType) === type) && name.toLowerCase().includes(text),
  )
}

/** The types that occur. */
export function countTypes(
  files: readonly Pick<FleetFile, 'fileType'>[],
): readonly { readonly value: string; readonly title: string; readonly count: number }[] {
  return ([1, 2, 3, 4] as const)
    .map((type) => ({
      value: String(type),
      title: fileTypeNames[type],
      count: files.filter(({ fileType }) => fileType === type).length,
    }))
    .filter(({ count }) => count > 0)
}

/** The names of the groups that use each file, by file id. */
export function findUsers(
  groups: readonly Pick<Group, 'name' | 'mainVCL' | 'includes' | 'tests'>[],
): ReadonlyMap<number, readonly string[]> {
  const users = new Map<number, string[]>()
  for (const { name, mainVCL, includes, tests } of groups) {
    const files = [...(mainVCL ? [mainVCL] : []), ...includes, ...tests]
    for (const id of new Set(files.map((file) => file.id))) {
      const known = users.get(id)
      if (known) known.push(name)
      else users.set(id, [name])
    }
  }
  return users
}
