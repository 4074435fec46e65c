/** Compares two texts side by side: versions of a file, what runs on caches, or the text in the editor. */
import { Comparison, type ComparedText } from '../../editor/comparison.js'
import { useAnswer } from '../../api/answer.js'
import type { CallError, Outcome } from '../../api/http.js'
import type { WholeVersion } from '../../../resources/file.js'
import { Button } from '../../parts/button.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { useAddressField } from '../../shell/address.js'
import type { EditedFile } from './edited-file.js'
import type { Versions } from './read-versions.js'
import { formatWhere, type RunningVersion } from './running-versions.js'

interface CompareSectionProps {
  readonly edited: EditedFile
  readonly newest: number
  readonly versions: Versions
  readonly running: readonly RunningVersion[]
}

/** A version's number, or the text in the editor. */
const inEditor = 'edited'

interface Compared {
  readonly pair: { readonly left: ComparedText; readonly right: ComparedText } | null
  readonly error: CallError | null
}

const nothing: Compared = { pair: null, error: null }

export function CompareSection({ edited, newest, versions, running }: CompareSectionProps) {
  const [fromField, setFrom] = useAddressField('from')
  const [toField, setTo] = useAddressField('to')
  const text = edited.state.value?.doc.toString()
  const to = toField === '' ? String(newest) : toField
  const from = fromField === '' ? String(Math.max(1, newest - 1)) : fromField

  const read = async (side: string): Promise<Outcome<Pick<WholeVersion, 'source'>>> =>
    side === inEditor && text !== undefined
      ? { ok: true, value: { source: text }, etag: null, total: null }
      : versions.readText(Number(side))
  const key = JSON.stringify([from, to, text])
  const { pair: shown, error } = useAnswer(key, nothing, async () => {
    const [left, right] = await Promise.all([read(from), read(to)])
    if (!left.ok) return { pair: null, error: left.error }
    if (!right.ok) return { pair: null, error: right.error }
    const pair = {
      left: { label: titleOf(from), text: left.value.source },
      right: { label: titleOf(to), text: right.value.source },
    }
    return { pair, error: null }
  })

  const sides = { versions, running, isText: text !== undefined }
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
      {error && <ErrorNote error={error} />}
      {!shown && !error && <Loading />}
      {shown && shown.left.text === shown.right.text && <p class="quiet">No difference.</p>}
      {shown && <Comparison left={shown.left} right={shown.right} />}
    </>
  )
}

function titleOf(side: string): string {
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
    where.set(one.version, [...(where.get(one.version) ?? []), formatWhere(one)])
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
        {isText && <option value={inEditor}>{titleOf(inEditor)}</option>}
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
                {titleOf(String(number))}
              </option>
            ))}
        </optgroup>
      </select>
    </label>
  )
}
