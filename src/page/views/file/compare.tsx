/** Two of: versions of a file, what runs on caches, and the text in the editor, side by side. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Comparison, type ComparedText } from '../../editor/comparison.js'
import type { CallError } from '../../api/http.js'
import { Button } from '../../parts/button.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { useAddressField } from '../../shell/address.js'
import type { EditedFile } from './edited-file.js'
import type { Versions } from './read-versions.js'
import { sayWhere, type RunningVersion } from './running-versions.js'

interface CompareSectionProps {
  readonly edited: EditedFile
  readonly newest: number
  readonly versions: Versions
  readonly running: readonly RunningVersion[]
}

/** A version's number, or the text in the editor. */
const inEditor = 'edited'

interface Pair {
  readonly left: ComparedText
  readonly right: ComparedText
}

export function CompareSection({ edited, newest, versions, running }: CompareSectionProps) {
  const [fromField, setFrom] = useAddressField('from')
  const [toField, setTo] = useAddressField('to')
  const pair = useSignal<Pair | null>(null)
  const error = useSignal<CallError | null>(null)
  const text = edited.state.value?.doc.toString()
  const to = toField === '' ? String(newest) : toField
  const from = fromField === '' ? String(Math.max(1, newest - 1)) : fromField

  useEffect(() => {
    let isLeft = false
    const read = async (side: string): Promise<string | null> => {
      if (side === inEditor && text !== undefined) return text
      const outcome = await versions.readText(Number(side))
      if (!outcome.ok && !isLeft) error.value = outcome.error
      return outcome.ok ? outcome.value.source : null
    }
    error.value = null
    void Promise.all([read(from), read(to)]).then(([left, right]) => {
      if (isLeft) return
      pair.value =
        left === null || right === null
          ? null
          : { left: { label: say(from), text: left }, right: { label: say(to), text: right } }
    })
    return () => {
      isLeft = true
    }
  }, [from, to, text, versions.readText])

  const sides = { versions, running, isText: text !== undefined }
  const shown = pair.value
  return (
    <>
      <div class="row">
        <Side label="From" value={from} onChoose={setFrom} {...sides} />
        <Side label="To" value={to} onChoose={setTo} {...sides} />
        <Button
          onClick={() => {
            setFrom(to)
            setTo(from)
          }}
        >
          Swap
        </Button>
      </div>
      {error.value && <ErrorNote error={error.value} />}
      {!shown && !error.value && <Loading />}
      {shown && shown.left.text === shown.right.text && <p class="quiet">No difference.</p>}
      {shown && <Comparison left={shown.left} right={shown.right} />}
    </>
  )
}

function say(side: string): string {
  return side === inEditor ? 'Text in the editor' : `Version ${side}`
}

function Side(props: {
  readonly label: string
  readonly value: string
  readonly onChoose: (side: string) => void
  readonly versions: Versions
  readonly running: readonly RunningVersion[]
  readonly isText: boolean
}) {
  const { label, value, onChoose, versions, running, isText } = props
  const where = new Map<number, string[]>()
  for (const one of running)
    where.set(one.version, [...(where.get(one.version) ?? []), sayWhere(one)])
  const numbers = (versions.rows ?? []).map(({ version }) => version)
  return (
    <label class="file-side-choice">
      <span>{label}</span>
      <select
        class="field-input"
        value={value}
        onChange={(event) => {
          onChoose(event.currentTarget.value)
        }}
      >
        {isText && <option value={inEditor}>{say(inEditor)}</option>}
        {where.size > 0 && (
          <optgroup label="Runs on caches">
            {numbers
              .filter((number) => where.has(number))
              .map((number) => (
                <option key={number} value={String(number)}>
                  {`Version ${number}, on ${where.get(number)?.join(', ') ?? ''}`}
                </option>
              ))}
          </optgroup>
        )}
        <optgroup label="Versions">
          {numbers
            .filter((number) => !where.has(number))
            .map((number) => (
              <option key={number} value={String(number)}>
                {say(String(number))}
              </option>
            ))}
        </optgroup>
      </select>
    </label>
  )
}
