/** One deployment: its requirements, its caches, and the groups that use it. */
import type { Deployment } from '../../../resources/deployment.js'
import { useObject } from '../../api/object.js'
import { Facts } from '../../parts/facts.js'
import { ObjectActions } from '../../parts/object-actions.js'
import { formatCount } from '../../parts/quantity.js'
import { ProblemNotes } from '../../parts/problem-notes.js'
import { ReferenceList } from '../../parts/reference-list.js'
import { notifySaved } from '../../parts/save-change.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import { LoadStatus } from '../../parts/load-status.js'
import { UsedBy } from '../../parts/used-by.js'
import { useDialog } from '../../parts/use-dialog.js'
import { useDelete } from '../../parts/use-delete.js'
import { Owner } from '../../parts/owner.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { DeploymentForm, toDeploymentFields, type DeploymentFormProps } from './deployment-form.js'

export function View({ params }: ViewProps) {
  const path = `/deployments/${params['id'] ?? ''}`
  const shown = useObject<Deployment>(path, { follow: 'deployment', id: Number(params['id']) })
  const { value: deployment, etag, reload } = shown
  const editing = useDialog<NonNullable<DeploymentFormProps['before']>>()
  const was = editing.subject
  const deletion = useDelete()
  return (
    <>
      <ViewHead
        title={deployment?.name ?? 'Deployment'}
        beside={
          deployment && (
            <>
              <StateChip state={deployment.stateName} />
              <Owner of={deployment} />
            </>
          )
        }
        back={{ href: '/deployments', title: 'Deployments' }}
      >
        {deployment && mayWrite('deployment') && (
          <ObjectActions
            verb="Edit"
            isDeleting={deletion.isBusy}
            onEdit={() => {
              editing.open({ deployment, etag })
            }}
            onDelete={() =>
              void deletion.ask({
                path,
                noun: 'deployment',
                name: deployment.name,
                home: '/deployments',
                text: 'A deployment that a group uses cannot be deleted.',
              })
            }
          />
        )}
      </ViewHead>
      <LoadStatus of={shown} mutation={deletion} />
      {deployment && <ProblemNotes problems={deployment.problems} />}
      {deployment && <Panels deployment={deployment} />}
      {was && (
        <DeploymentForm
          before={was}
          owner={was.deployment.organization}
          onSaved={(_, saved) => {
            editing.close()
            const before = toDeploymentFields(was.deployment)
            notifySaved({ path, before, etag: saved, then: reload })
          }}
          onClose={editing.close}
        />
      )}
    </>
  )
}

function Panels({ deployment }: { readonly deployment: Deployment }) {
  const { id, min, max, tags, agents } = deployment
  return (
    <div class="panels">
      <section class="panel">
        <h2>What it asks for</h2>
        <Facts
          of={[
            ['Tags', <Labels words={tags.map(({ name }) => name)} />],
            ['Min', formatCount(min)],
            ['Max', formatCount(max)],
          ]}
        />
      </section>
      {mayRead('vclgroup') && (
        <UsedBy
          title="Groups that use it"
          path="/vclgroups"
          query={{ 'deployments.id': String(id) }}
          follow={['vclgroup']}
          hrefOf={(one) => `/groups/${one}`}
          none="None yet: add it to a group."
        />
      )}
      <section class="panel">
        <h2>Caches that it has</h2>
        <ReferenceList
          items={agents}
          hrefOf={mayRead('agent') ? (one) => `/caches/${one}` : undefined}
          none="None: no group is deployed by it."
        />
      </section>
    </div>
  )
}
