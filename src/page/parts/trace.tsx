/** The trace id of a call, for a search in the API log and in the daemons' log lines. */
import { Button } from './button.js'
import { copyText } from './copy.js'

export function Trace({ id }: { readonly id: string }) {
  return (
    <span class="trace">
      <code>{id}</code>
      <Button
        kind="quiet"
        icon="copy"
        label="Copy the trace id"
        onClick={() => void copyText(id)} // never rejects
      />
    </span>
  )
}
