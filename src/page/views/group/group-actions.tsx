/** What can be done to the whole of a group. */
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import type { Group } from '../../../resources/vclgroup.js'
import { Button, LinkButton } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { notifySaved } from '../../parts/save-change.js'
import { useDialog } from '../../parts/use-dialog.js'
import { useDelete } from '../../parts/use-delete.js'
import { ErrorNote } from '../../parts/error-note.js'
import { toast } from '../../parts/toasts.js'
import { readGroupFields, toGroupBody } from './group-fields.js'
import { GroupForm, listChoosable, type GroupFormProps } from './group-form.js'
import { mayChangeGroup } from './may-change-group.js'
import type { Verbs } from './use-verbs.js'

interface GroupActionsProps {
  readonly group: Group
  readonly etag: string | null
  readonly verbs: Verbs
  readonly reload: () => void
  /** The part that is shown: it may have a main button of its own. */
  readonly section: string
}

export function GroupActions({ group, etag, verbs, reload, section }: GroupActionsProps) {
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
      {group.stateName === 'Deploying' && <CancelDeploy group={group} reload={reload} />}
      {group.deployed && (
        <>
          <Button
            icon="refresh"
            isBusy={verbs.isBusy}
            onClick={() => {
              verbs.act(group, { name: 'reload', done: `${name} recompiled.` })
            }}
          >
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

/** Beside the call that waits for the deploy, which it ends. */
function CancelDeploy({ group, reload }: Pick<GroupActionsProps, 'group' | 'reload'>) {
  const mutation = useMutation()
  const cancel = async (): Promise<void> => {
    const isSure = await confirmDestruction({
      title: `Cancel the deploy of ${group.name}?`,
      text: 'Caches keep serving what they serve now. A deploy that has switched already cannot be cancelled.',
      verb: 'Cancel deploy',
    })
    if (!isSure) return
    await mutation.run(
      () => call<Group>('PUT', `/vclgroups/${group.id}/cancel`),
      () => {
        toast(`Deploy of ${group.name} cancelled.`)
      },
    )
    reload()
  }
  return (
    <>
      <Button isBusy={mutation.isBusy} onClick={() => void cancel()}>
        Cancel deploy
      </Button>
      {mutation.error && <ErrorNote error={mutation.error} />}
    </>
  )
}

async function undeploy(group: Group, verbs: Verbs): Promise<void> {
  const { name, agentStates, root, domains } = group
  const caches = `${agentStates.length} ${agentStates.length === 1 ? 'cache' : 'caches'}`
  const what = root
    ? 'They answer 503 until another group is deployed there.'
    : `They stop serving ${domains.map(({ fqdn }) => fqdn).join(', ')}.`
  const isSure = await confirmDestruction({
    title: `Undeploy group ${name}?`,
    text: `It is removed from ${caches}. ${what} Deploying it again brings it back.`,
    verb: 'Undeploy',
    name,
  })
  if (isSure) verbs.act(group, { name: 'undeploy', done: `${name} undeployed.` })
}
