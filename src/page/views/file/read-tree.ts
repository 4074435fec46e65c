/** The files of a VCL as a tree of what includes what: texts in, values out. */
import { readIncludes } from './read-includes.js'

export interface TreeFile {
  readonly id: number
  readonly text: string
}

export interface FileNode {
  readonly name: string
  /** Null: there is no such file here; a cache may have one. */
  readonly id: number | null
  readonly children: readonly FileNode[]
}

/** More than anybody reads. */
const nodesMost = 500

/** `files`: by name. A file that includes itself, directly or not, is not followed again. */
export function buildTree(root: string, files: ReadonlyMap<string, TreeFile>): FileNode {
  let count = 0
  const grow = (name: string, above: readonly string[]): FileNode => {
    count++
    const file = files.get(name)
    const names = file && !above.includes(name) ? readIncludes(file.text) : []
    const children = names.flatMap((next) =>
      count < nodesMost ? [grow(next, [...above, name])] : [],
    )
    return { name, id: file?.id ?? null, children }
  }
  return grow(root, [])
}

export function listNames(node: FileNode): readonly string[] {
  return [node.name, ...node.children.flatMap(listNames)]
}
