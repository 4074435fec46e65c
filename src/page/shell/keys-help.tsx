/** Help for the keyboard shortcuts. */
import { Dialog } from '../parts/dialog.js'
import { Facts } from '../parts/facts.js'
import { keys } from './keys.js'

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const known = new Map(keys.value.map(({ key, title }) => [key, title]))
  return (
    <Dialog title="Keys" onClose={onClose}>
      <Facts
        of={[
          ...[...known].map(([key, title]) => [<kbd>{formatKey(key)}</kbd>, title] as const),
          [<kbd>Ctrl K</kbd>, 'Search everything, and commands'],
          [<MoveKeys />, 'Move in a table; Enter opens'],
          [<kbd>Esc</kbd>, 'Close a dialog, leave the search'],
        ]}
      />
      <p class="keys-more">
        Read on: <a href="/docs/deploying.html">the guides</a>,{' '}
        <a href="/docs/index.html">all calls of the API</a>.
      </p>
    </Dialog>
  )
}

function MoveKeys() {
  return (
    <>
      <kbd>↑</kbd> <kbd>↓</kbd> <kbd>Home</kbd> <kbd>End</kbd>
    </>
  )
}

function formatKey(key: string): string {
  if (key === 'ArrowLeft') return '←'
  return key === 'ArrowRight' ? '→' : key
}
