/** A part of a view whose code is loaded when it is first shown. */
import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Empty } from './empty.js'
import { Loading } from './loading.js'

interface LoadedPartProps<Props extends object> {
  /** The name users know it by: "Graphs". */
  readonly name: string
  readonly load: () => Promise<ComponentType<Props>>
  readonly props: Props
}

export function LoadedPart<Props extends object>({ name, load, props }: LoadedPartProps<Props>) {
  const shown = useSignal<{ readonly Part: ComponentType<Props> } | 'loading' | 'failed'>('loading')
  useEffect(() => {
    load().then(
      (Part) => {
        shown.value = { Part }
      },
      () => {
        shown.value = 'failed'
      },
    )
  }, [])
  if (shown.value === 'loading') return <Loading />
  if (shown.value === 'failed')
    return <Empty icon="refresh" title={`${name} could not be loaded: reload the page`} />
  const { Part } = shown.value
  return <Part {...props} />
}
