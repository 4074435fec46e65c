/** Actions on a whole group. */
import type { Group } from '../../../resources/vclgroup.js'
import { Button, LinkButton } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { notifySaved } from '../../parts/save-change.js'
import { useDialog } from '../../parts/use-dialog.js'
import { useDelete } from '../../parts/use-delete.js'
import { ErrorNote } from '../../parts/error-note.js'
import { CancelDeploy } from './cancel-deploy.js'
import { readGroupFields, toGroupBody } from './group-fields.js'
import { GroupForm, listChoosable, type GroupFormProps } from './group-form.js'
import { mayChangeGroup } from './may-change-group.js'
import type { Verbs } from './use-verbs.js'

interface GroupActionsProps {
  readonly group: Group
  readonly etag: string | null
  readonly verbs: Verbs
  readonly reload: () => void
  /** The section shown, which may have its own main button. */
  readonly section: string
  /** True while a rollout runs: a rollout is aborted, not cancelled. */
  readonly isRolledOut: boolean
}

export function GroupActions(props: GroupActionsProps) {
  const { group, etag, verbs, reload, section, isRolledOut } = props
  const editing = useDialog<NonNullable<GroupFormProps['before']>>()
  const was = editing.subject
  const deletion = useDelete()
  const { id, name } = group
  const path = `/vclgroups/${id}`
  if (!mayChangeGroup(group)) return null
  return (
    <>
      {section !== 'deploy' && (
        <LinkButton kind={section === 'stage' ? 'plain' : 'main'} href={`/groups/${id}/deploy`}>
          Deploy…
        </LinkButton>
      )}
      {section !== 'deploy' && group.stateName === 'Deploying' && !isRolledOut && (
        <CancelDeploy group={group} reload={reload} />
      )}
      {group.deployed && (
        <>
          <Button icon="refresh" isBusy={verbs.isBusy} onClick={() => void recompile(group, verbs)}>
            Recompile on caches…
          </Button>
          <Button isBusy={verbs.isBusy} onClick={() => void undeploy(group, verbs)}>
            Undeploy
          </Button>
        </>
      )}
      <Button
        icon="edit"
        onClick={() => {
          editing.open({ group, etag })
        }}
      >
        Edit
      </Button>
      {!group.deployed && !group.staged && (
        <Button
          icon="remove"
          isBusy={deletion.isBusy}
          onClick={() =>
            void deletion.ask({
              path,
              noun: 'group',
              name,
              home: '/groups',
              text: 'Its history is deleted too. Files, domains and deployments are kept.',
            })
          }
        >
          Delete
        </Button>
      )}
      {deletion.error && <ErrorNote error={deletion.error} />}
      {was && (
        <GroupForm
          before={was}
          onSaved={(_, saved) => {
            editing.close()
            const before = toGroupBody(readGroupFields(was.group), listChoosable())
            notifySaved({ path, before, etag: saved, then: reload })
          }}
          onClose={editing.close}
        />
      )}
    </>
  )
}

async function recompile(group: Group, verbs: Verbs): Promise<void> {
  const { name } = group
  const isSure = await confirmDestruction({
    title: `Recompile group ${name}?`,
    text: `What is deployed is compiled once more under a new name on ${describeCaches(group)}, and takes over there. Files that changed since are not taken.`,
    verb: 'Recompile',
    isHarmless: true,
  })
  if (isSure) verbs.act(group, { name: 'reload', done: `${name} recompiled.` })
}

function describeCaches({ agentStates: { length } }: Group): string {
  return `${length} ${length === 1 ? 'cache' : 'caches'}`
}

async function undeploy(group: Group, verbs: Verbs): Promise<void> {
  const { name, root, domains } = group
  const what = root
    ? 'Requests are answered with 503 there until another group is deployed.'
    : `Requests for ${domains.map(({ fqdn }) => fqdn).join(', ')} are not served there any more.`
  const isSure = await confirmDestruction({
    title: `Undeploy group ${name}?`,
    text: `It is removed from ${describeCaches(group)}. ${what} Deploying it again brings it back.`,
    verb: 'Undeploy',
    name,
  })
  if (isSure) verbs.act(group, { name: 'undeploy', done: `${name} undeployed.` })
}
