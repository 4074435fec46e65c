/** Builds the include tree of a VCL. Pure functions. */
import { readIncludes } from './read-includes.js'

export interface TreeFile {
  readonly id: number
  readonly text: string
}

export interface FileNode {
  readonly name: string
  /** Null: no such file in the fleet; it may exist on a cache. */
  readonly id: number | null
  readonly children: readonly FileNode[]
}

/** More than a user reads. */
const maxNodes = 500

/** `files`: by name. Recursive includes, direct or indirect, are not followed again. */
export function buildTree(root: string, files: ReadonlyMap<string, TreeFile>): FileNode {
  let count = 0
  const grow = (name: string, above: readonly string[]): FileNode => {
    count++
    const file = files.get(name)
    const names = file && !above.includes(name) ? readIncludes(file.text) : []
    const children = names.flatMap((next) =>
      count < maxNodes ? [grow(next, [...above, name])] : [],
    )
    return { name, id: file?.id ?? null, children }
  }
  return grow(root, [])
}

export function listNames(node: FileNode): readonly string[] {
  return [node.name, ...node.children.flatMap(listNames)]
}
