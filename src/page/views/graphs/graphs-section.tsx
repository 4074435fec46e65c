/** The graphs of one cache or group within its own view; the drawing code is loaded with the first graph. */
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
