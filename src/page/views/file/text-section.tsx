/** The text of a file in its editor: save, check, and what belongs to it. */
import type { EditorView } from '@codemirror/view'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Group } from '../../../resources/vclgroup.js'
import type { WholeFile } from '../../../resources/file.js'
import { Editor } from '../../editor/editor.js'
import { goToLine, markProblems } from '../../editor/problems.js'
import { Button } from '../../parts/button.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { useAddressField } from '../../shell/address.js'
import { checkText, type Checked } from './check.js'
import { CheckResult, problemsOf } from './check-result.js'
import type { EditedFile, Newest } from './edited-file.js'
import { Includes } from './includes.js'
import { NewerVersion } from './newer-version.js'
import type { Versions } from './read-versions.js'
import { UsedBy } from './used-by.js'

interface TextSectionProps {
  readonly edited: EditedFile
  readonly file: WholeFile
  readonly users: readonly Group[]
  readonly versions: Versions
}

export function TextSection({ edited, file, users, versions }: TextSectionProps) {
  const view = useRef<EditorView | null>(null)
  const [line] = useAddressField('line')
  const check = useCheck(edited, file, view)
  const { state } = edited
  const goTo = (number: number): void => {
    if (view.current) goToLine(view.current, number)
  }
  useEffect(() => {
    if (Number(line) > 0) goTo(Number(line))
  }, [line])

  return (
    <div class="file-columns">
      <div class="file-main">
        {mayWrite('file') && <TextActions edited={edited} users={users} check={check} />}
        {state.value && (
          <Editor
            key={edited.beginning.value}
            state={state.value}
            onState={(now) => (state.value = now)}
            onView={(now) => (view.current = now)}
          />
        )}
        <NewerVersion edited={edited} versions={versions} />
        {check.result && <CheckResult checked={check.result} file={file} onLine={goTo} />}
        <p class="quiet file-keys from-medium">
          <kbd>Ctrl S</kbd> saves, <kbd>Ctrl F</kbd> searches, <kbd>Esc</kbd> and <kbd>Tab</kbd>{' '}
          leave the editor
        </p>
      </div>
      <div class="file-side">
        <Includes file={file} text={state.value?.doc.toString() ?? ''} />
        <UsedBy users={users} />
      </div>
    </div>
  )
}

interface Check {
  readonly result: Checked | null
  readonly isBusy: boolean
  readonly run: (group: Group | null) => Promise<void>
}

function useCheck(
  edited: EditedFile,
  file: WholeFile,
  view: { readonly current: EditorView | null },
): Check {
  const result = useSignal<Checked | null>(null)
  const isBusy = useSignal(false)
  const run = async (group: Group | null): Promise<void> => {
    if (isBusy.peek()) return
    isBusy.value = true
    const now = await checkText(file, edited.state.peek()?.doc.toString() ?? '', group)
    result.value = now
    isBusy.value = false
    const own = problemsOf(now).filter((problem) => problem.file === file.name)
    if (view.current) markProblems(view.current, own)
  }
  return { result: result.value, isBusy: isBusy.value, run }
}

function TextActions(props: {
  readonly edited: EditedFile
  readonly users: readonly Group[]
  readonly check: Check
}) {
  const { edited, users, check } = props
  const groupId = useSignal<string | null>(null)
  // Until one is chosen a file is checked where it is used.
  const chosen = groupId.value ?? String(users[0]?.id ?? '')
  const group = users.find(({ id }) => String(id) === chosen) ?? null
  return (
    <div class="row">
      <Button
        kind="main"
        disabled={!edited.isChanged.value}
        isBusy={edited.isBusy.value}
        onClick={() => void edited.save()}
      >
        Save
      </Button>
      {edited.newest.value && <Discard edited={edited} from={edited.newest.value} />}
      {mayRead('agent') && (
        <Button isBusy={check.isBusy} onClick={() => void check.run(group)}>
          {check.isBusy ? 'Checking…' : 'Check'}
        </Button>
      )}
      {mayRead('agent') && users.length > 0 && (
        <CheckAs value={chosen} users={users} onChoose={(id) => (groupId.value = id)} />
      )}
    </div>
  )
}

function Discard({ edited, from }: { readonly edited: EditedFile; readonly from: Newest }) {
  return (
    <Button
      disabled={!edited.isChanged.value}
      onClick={() => {
        edited.drop(from)
      }}
    >
      Discard
    </Button>
  )
}

function CheckAs(props: {
  readonly value: string
  readonly users: readonly Group[]
  readonly onChoose: (id: string) => void
}) {
  return (
    <label class="file-check-as">
      <span>as part of</span>
      <select
        class="field-input"
        value={props.value}
        onChange={(event) => {
          props.onChoose(event.currentTarget.value)
        }}
      >
        {props.users.map(({ id, name }) => (
          <option key={id} value={String(id)}>
            {name}
          </option>
        ))}
        <option value="alone">no group</option>
      </select>
    </label>
  )
}
