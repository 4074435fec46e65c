/** What the keys do. */
import { Dialog } from '../parts/dialog.js'
import { keys } from './keys.js'

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const known = new Map(keys.value.map(({ key, title }) => [key, title]))
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="facts">
        {[...known].map(([key, title]) => (
          <div key={key}>
            <dt>
              <kbd>{sayKey(key)}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>↑</kbd> <kbd>↓</kbd> <kbd>Home</kbd> <kbd>End</kbd>
          </dt>
          <dd>Move in a table; Enter opens</dd>
        </div>
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>Close a dialog, leave the search</dd>
        </div>
      </dl>
      <p class="keys-more">
        All calls of this page are documented: <a href="/docs/index.html">the API</a>.
      </p>
    </Dialog>
  )
}

function sayKey(key: string): string {
  if (key === 'ArrowLeft') return '←'
  return key === 'ArrowRight' ? '→' : key
}
