/** Links to the lines of a group's files that the compiler's output names. */
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
  // Only the editor needs the position within the line.
  const lines = new Map(
    readProblems(text, new Set(files.keys())).map((one) => [
      `${one.file} ${one.line} ${one.message}`,
      one,
    ]),
  )
  return <ProblemList problems={[...lines.values()]} files={files} />
}
