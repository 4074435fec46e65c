/** The graphs of one cache or group as a part of its own view; what draws them is loaded with the first one. */
import { LoadedPart } from '../../parts/loaded-part.js'
import type { Subject } from './subject.js'

export function GraphsSection({ subject }: { readonly subject: Subject }) {
  return (
    <LoadedPart
      name="Graphs"
      load={async () => (await import('./subject-graphs.js')).SubjectGraphs}
      props={{ subject }}
    />
  )
}
