/** The text of a file in its editor, with save and check. */
import type { EditorView } from '@codemirror/view'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Group } from '../../../resources/vclgroup.js'
import type { WholeFile } from '../../../resources/file.js'
import { Editor } from '../../editor/editor.js'
import { goToLine, markProblems, showLine } from '../../editor/problems.js'
import { mayWrite } from '../../session/rights.js'
import { useAddressField } from '../../shell/address.js'
import type { EditedFile } from './edited-file.js'
import { FileTree } from './file-tree.js'
import { NewerVersion } from './newer-version.js'
import { ProblemPanel } from './problem-panel.js'
import type { Versions } from './read-versions.js'
import type { RunningVersion } from './running-versions.js'
import { TextActions } from './text-actions.js'
import { mayCheck, problemsOf, useCheck, type Check } from './use-check.js'
import { UsedBy } from './used-by.js'

interface TextSectionProps {
  readonly edited: EditedFile
  readonly file: WholeFile
  readonly users: readonly Group[]
  readonly versions: Versions
  readonly running: readonly RunningVersion[]
}

type View = { readonly current: EditorView | null }

export function TextSection({ edited, file, users, versions, running }: TextSectionProps) {
  const view = useRef<EditorView | null>(null)
  const [line] = useAddressField('line')
  const groupId = useSignal<string | null>(null)
  // By default, a file is checked as part of the first group that uses it.
  const chosen = groupId.value ?? String(users[0]?.id ?? '')
  const group = users.find(({ id }) => String(id) === chosen) ?? null
  const check = useCheck(edited, file, group)
  useMarks(check, file, view)
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
        {mayWrite('file') && (
          <TextActions
            edited={edited}
            users={users}
            running={running}
            chosen={chosen}
            check={mayCheck(file) ? check : null}
            onChoose={(id) => (groupId.value = id)}
          />
        )}
        {state.value && (
          <Editor
            key={edited.beginning.value}
            state={state.value}
            onState={(now) => (state.value = now)}
            onView={(now) => (view.current = now)}
          />
        )}
        <NewerVersion edited={edited} versions={versions} />
        {mayCheck(file) && <ProblemPanel check={check} file={file} onLine={goTo} />}
        <p class="quiet file-keys from-medium">
          <kbd>Ctrl S</kbd> saves, <kbd>Ctrl F</kbd> searches, <kbd>Ctrl Space</kbd> completes,{' '}
          <kbd>Esc</kbd> and <kbd>Tab</kbd> leave the editor
        </p>
      </div>
      <div class="file-side">
        <FileTree file={file} group={group} text={state.value?.doc.toString() ?? ''} />
        <UsedBy users={users} />
      </div>
    </div>
  )
}

/** Marks problems at the lines in the editor; after a requested check, scrolls to the first one. */
function useMarks({ result, isAsked }: Check, file: WholeFile, view: View): void {
  useEffect(() => {
    if (!view.current) return
    const own = result ? problemsOf(result).filter((problem) => problem.file === file.name) : []
    markProblems(view.current, own)
    const [first] = own
    if (first && isAsked) showLine(view.current, first.line)
  }, [result])
}
