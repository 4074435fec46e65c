/** Compares the files of two deploys: which are new, changed (with the diff) or removed. */
import type { Pins } from '../../../resources/vclgroup.js'
import { useObject } from '../../api/object.js'
import { DiffText } from '../../parts/diff-text.js'
import { ErrorNote } from '../../parts/error-note.js'
import { mayRead } from '../../session/rights.js'
import { compareFiles, isChanged, type FileChange } from './compare-pins.js'
import { Details } from './details.js'

interface FileChangesProps {
  /** Null: nothing was deployed before. */
  readonly before: Pins | null
  readonly after: Pins
}

export function FileChanges({ before, after }: FileChangesProps) {
  return (
    <ul class="plain-list">
      {compareFiles(before, after).map((change) => (
        <li key={keyOf(change)}>
          <OneFile change={change} />
        </li>
      ))}
    </ul>
  )
}

/** Includes the versions, so that a file that changes while shown is expanded. */
function keyOf({ isMain, id, from, to }: FileChange): string {
  return `${isMain ? 'main' : 'include'} ${id} ${from ?? ''} ${to ?? ''}`
}

function OneFile({ change }: { readonly change: FileChange }) {
  const { id, name, isMain, from, to } = change
  const words = (
    <>
      <span class="group-file-name">{name}</span>
      <span class="quiet">{isMain ? 'main VCL' : 'include'}</span>
      <span class={`group-change ${toneOf(change)}`}>{describeChange(change)}</span>
    </>
  )
  if (!isChanged(change) || !mayRead('file')) return <p class="group-file">{words}</p>
  return (
    <Details line={words} isOpen={from !== null && to !== null}>
      {() =>
        from !== null && to !== null ? (
          <Difference id={id} name={name} from={from} to={to} />
        ) : (
          <Source id={id} name={name} version={to ?? from ?? 1} />
        )
      }
    </Details>
  )
}

function toneOf({ from, to }: FileChange): string {
  if (from === to) return 'quiet'
  if (from === null) return 'tone-good'
  return to === null ? 'tone-bad' : 'tone-busy'
}

function describeChange({ from, to }: FileChange): string {
  if (from === to) return `version ${to ?? ''}, unchanged`
  if (from === null) return `new, version ${to ?? ''}`
  return to === null ? `removed, was version ${from}` : `version ${from} → ${to}`
}

interface DifferenceProps {
  readonly id: number
  readonly name: string
  readonly from: number
  readonly to: number
}

function Difference({ id, name, from, to }: DifferenceProps) {
  const path = `/files/${id}/diff?from=${from}&to=${to}`
  const { value, error, reload } = useObject<{ readonly diff: string }>(path)
  if (error) return <ErrorNote error={error} onRetry={reload} />
  // As high as a small diff, so that the layout hardly moves when the diff arrives.
  if (!value) return <div class="group-waiting" />
  return <DiffText text={value.diff} label={`What changes in ${name}`} />
}

function Source(props: { readonly id: number; readonly name: string; readonly version: number }) {
  const { id, name, version } = props
  const path = `/files/${id}/versions/${version}`
  const { value, error, reload } = useObject<{ readonly source: string }>(path)
  if (error) return <ErrorNote error={error} onRetry={reload} />
  return (
    value && (
      <pre class="group-source" tabIndex={0} role="region" aria-label={`The text of ${name}`}>
        {value.source}
      </pre>
    )
  )
}
