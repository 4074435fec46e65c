/** Another user saved first: shows both texts for merging. */
import { useSignal } from '@preact/signals'
import { Comparison } from '../../editor/comparison.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import type { EditedFile, Newest } from './edited-file.js'

export function Conflict({ edited }: { readonly edited: EditedFile }) {
  const conflict = edited.conflict.value
  return conflict && <Merge key={conflict.etag} edited={edited} theirs={conflict} />
}

function Merge({ edited, theirs }: { readonly edited: EditedFile; readonly theirs: Newest }) {
  const base = edited.base.value
  const { version, source } = theirs.file
  const mine = useSignal(edited.state.peek()?.doc.toString() ?? '')
  const merged = useSignal(mine.peek())
  const goOn = (): void => {
    edited.write(merged.peek())
    edited.conflict.value = null
  }
  return (
    <Dialog title="Somebody else saved this file" isWide onClose={goOn}>
      <p>
        Version {version} was saved while you were editing version {base?.version}. Theirs is on the
        left or above, yours follows: edit it, or use their changes one by one.
      </p>
      <Comparison
        left={{ label: `Version ${version}, theirs`, text: source }}
        right={{ label: 'Your text', text: mine.value }}
        onMerge={(text) => {
          merged.value = text
        }}
      />
      <div class="dialog-foot">
        <Button onClick={goOn}>Keep editing</Button>
        <Button
          onClick={() => {
            edited.drop(theirs)
          }}
        >
          Use theirs
        </Button>
        <Button
          kind="main"
          isBusy={edited.isBusy.value}
          onClick={() => {
            edited.write(merged.peek())
            void edited.save(theirs)
          }}
        >
          Save mine as the next version
        </Button>
      </div>
    </Dialog>
  )
}
