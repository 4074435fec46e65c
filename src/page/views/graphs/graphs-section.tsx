/** The graphs of one cache or group as a part of its own view; what draws them is loaded with the first one. */
import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Empty } from '../../parts/empty.js'
import { Loading } from '../../parts/loading.js'
import type { Subject } from './subject.js'

type SubjectGraphs = ComponentType<{ readonly subject: Subject }>

export function GraphsSection({ subject }: { readonly subject: Subject }) {
  const shown = useSignal<SubjectGraphs | 'loading' | 'failed'>('loading')
  useEffect(() => {
    import('./subject-graphs.js').then(
      ({ SubjectGraphs }) => {
        shown.value = SubjectGraphs
      },
      () => {
        shown.value = 'failed'
      },
    )
  }, [])
  const Shown = shown.value
  if (Shown === 'loading') return <Loading />
  if (Shown === 'failed')
    return <Empty icon="refresh" title="Graphs could not be loaded: reload the page" />
  return <Shown subject={subject} />
}
