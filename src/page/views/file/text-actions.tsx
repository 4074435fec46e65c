/** Actions on the text in the editor: save, discard, check, compare with what runs. */
import type { Group } from '../../../resources/vclgroup.js'
import { Button, LinkButton } from '../../parts/button.js'
import type { EditedFile } from './edited-file.js'
import { findBehind } from './find-behind.js'
import type { RunningVersion } from './running-versions.js'
import type { Check } from './use-check.js'

interface TextActionsProps {
  readonly edited: EditedFile
  readonly users: readonly Group[]
  readonly running: readonly RunningVersion[]
  /** Null: the user may not check. */
  readonly check: Check | null
  /** The group as part of which the file is checked, or `alone`. */
  readonly chosen: string
  readonly onChoose: (id: string) => void
}

export function TextActions(props: TextActionsProps) {
  const { edited, users, running, check, chosen, onChoose } = props
  const newest = edited.newest.value
  const [served] = running
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
      {newest && (
        <Button
          disabled={!edited.isChanged.value}
          onClick={() => {
            edited.drop(newest)
          }}
        >
          Discard
        </Button>
      )}
      {check && (
        <Button isBusy={check.isBusy} onClick={check.run}>
          Check
        </Button>
      )}
      {check && users.length > 0 && <CheckAs value={chosen} users={users} onChoose={onChoose} />}
      {newest && !edited.isChanged.value && (
        <ReviewDeploys groups={findBehind(users, newest.file)} />
      )}
      {newest && served && (
        <LinkButton href={`/files/${newest.file.id}/compare?from=${served.version}&to=edited`}>
          Compare with running
        </LinkButton>
      )}
    </div>
  )
}

/** Further groups are listed beside the text. */
const maxReviewed = 3

/** Shown because a saved file is not served until it is deployed. */
function ReviewDeploys({ groups }: { readonly groups: readonly Group[] }) {
  return groups.slice(0, maxReviewed).map(({ id, name }) => (
    <LinkButton key={id} href={`/groups/${id}/deploy`}>
      {groups.length === 1 ? 'Review deploy' : `Review deploy of ${name}`}
    </LinkButton>
  ))
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
