/** The id that a call is looked up by, in the api log and in the log lines of the daemons. */
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
