/** The places in a group's files that a compiler's text names, each a link to the line. */
import type { Group } from '../../../resources/vclgroup.js'
import { mayRead } from '../../session/rights.js'
import { ProblemList } from '../file/problem-list.js'
import { readProblems } from '../file/read-problems.js'

export function CompileErrors({ group, text }: { readonly group: Group; readonly text: string }) {
  if (!mayRead('file')) return null
  const files = new Map(
    [group.mainVCL, ...group.includes, ...group.tests].flatMap((file) =>
      file ? [[file.name, file.id]] : [],
    ),
  )
  // Where in the line matters to the editor only.
  const lines = new Map(
    readProblems(text, new Set(files.keys())).map((one) => [
      `${one.file} ${one.line} ${one.message}`,
      one,
    ]),
  )
  return <ProblemList problems={[...lines.values()]} files={files} />
}
