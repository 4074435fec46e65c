/** The include tree of the group, or of this file alone, with the text in the editor. */
import { useMemo } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { FleetFile, WholeFile } from '../../../resources/file.js'
import type { Group } from '../../../resources/vclgroup.js'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import { gatherIncludes } from './check.js'
import { readIncludes } from './read-includes.js'
import { buildTree, listNames, type FileNode, type TreeFile } from './read-tree.js'

/** A pause in typing. */
const delayMs = 400

interface FileTreeProps {
  readonly file: FleetFile
  /** Null: shows the file alone. */
  readonly group: Group | null
  /** The text in the editor. */
  readonly text: string
}

export function FileTree({ file, group, text }: FileTreeProps) {
  const root = group?.mainVCL ?? file
  const included = useMemo(() => readIncludes(text), [text])
  const key = JSON.stringify([root.id, file.id, file.version, included])
  const files = useAnswer<Files>(key, null, (signal) => readFiles(root, file, text, signal), {
    delayMs,
  })
  const tree = buildTree(root.name, new Map(files).set(file.name, { id: file.id, text }))
  const names = new Set(listNames(tree))
  const loose = (group?.includes ?? []).filter(({ name }) => !names.has(name))
  return (
    <section class="panel" aria-labelledby="file-tree">
      <h2 id="file-tree">{group ? `Files of ${group.name}` : 'Includes'}</h2>
      <ul class="file-tree">
        <Node node={tree} current={file.id} isKnown={files !== null} />
      </ul>
      {loose.length > 0 && files !== null && (
        <>
          <h3>Included by nothing</h3>
          <ul class="file-tree">
            {loose.map(({ id, name }) => (
              <Node key={id} node={{ id, name, children: [] }} current={file.id} isKnown />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

/** By name; null: not read yet. */
type Files = ReadonlyMap<string, TreeFile> | null

async function readFiles(
  root: Pick<FleetFile, 'id' | 'name'>,
  file: FleetFile,
  text: string,
  signal: AbortSignal,
): Promise<Files> {
  const isOwn = root.id === file.id
  const read = isOwn ? null : await call<WholeFile>('GET', `/files/${root.id}`, { signal })
  const main = read?.ok === true ? read.value : null
  const found = await gatherIncludes(main ?? file, main?.source ?? text, signal)
  // The text in the editor may include more files than the saved one.
  const more = isOwn ? [] : await gatherIncludes(file, text, signal)
  const all = [...(main ? [main] : []), ...found, ...more]
  return new Map(
    all.map(({ id, name, source, encoded }) => [name, { id, text: encoded ? '' : source }]),
  )
}

interface NodeProps {
  readonly node: FileNode
  readonly current: number
  readonly isKnown: boolean
}

function Node({ node: { name, id, children }, current, isKnown }: NodeProps) {
  return (
    <li>
      {id === null ? (
        <>
          {name}
          {isKnown && <span class="quiet"> (no file here; the cache may have it)</span>}
        </>
      ) : (
        <Link href={`/files/${id}`} aria-current={id === current ? 'page' : undefined}>
          {name}
        </Link>
      )}
      {children.length > 0 && (
        <ul class="file-tree">
          {children.map((child) => (
            <Node key={child.name} node={child} current={current} isKnown={isKnown} />
          ))}
        </ul>
      )}
    </li>
  )
}
