/** Somebody else saved first: both texts, and the person chooses. */
import { Comparison } from '../../editor/comparison.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import type { EditedFile } from './edited-file.js'

export function Conflict({ edited }: { readonly edited: EditedFile }) {
  const { conflict, base, state } = edited
  if (!conflict) return null
  const { version, source } = conflict.file
  return (
    <Dialog title="Somebody else saved this file" isWide onClose={edited.closeConflict}>
      <p>
        Your text was begun from version {base?.version}; by now there is version {version}. Theirs
        stands first, on the left or above; yours follows.
      </p>
      <Comparison
        left={{ label: `Version ${version}, theirs`, text: source }}
        right={{ label: 'Your text', text: state.value?.doc.toString() ?? '' }}
      />
      <div class="dialog-foot">
        <Button onClick={edited.closeConflict}>Go on editing</Button>
        <Button
          onClick={() => {
            edited.drop(conflict)
          }}
        >
          Take theirs, drop mine
        </Button>
        <Button kind="main" isBusy={edited.isBusy} onClick={() => void edited.save(conflict)}>
          Save mine as the next version
        </Button>
      </div>
    </Dialog>
  )
}
