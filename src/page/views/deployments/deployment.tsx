/** One deployment: what it asks for, the caches that it has, the groups that use it. */
import { useSignal } from '@preact/signals'
import type { Deployment } from '../../../resources/deployment.js'
import { useObject } from '../../api/object.js'
import { Facts } from '../../parts/facts.js'
import { ObjectDeeds } from '../../parts/object-deeds.js'
import { sayCount } from '../../parts/quantity.js'
import { ReferenceList } from '../../parts/reference-list.js'
import { tellSaved } from '../../parts/save-change.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import { Troubles } from '../../parts/troubles.js'
import { UsedBy } from '../../parts/used-by.js'
import { useDelete } from '../../parts/use-delete.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { DeploymentForm, toDeploymentFields, type DeploymentFormProps } from './deployment-form.js'

export function View({ params }: ViewProps) {
  const path = `/deployments/${params['id'] ?? ''}`
  const shown = useObject<Deployment>(path, { follow: 'deployment', id: Number(params['id']) })
  const { value: deployment, etag, reload } = shown
  const begun = useSignal<NonNullable<DeploymentFormProps['before']> | null>(null)
  const was = begun.value
  const deletion = useDelete()
  return (
    <>
      <ViewHead
        title={deployment?.name ?? 'Deployment'}
        beside={deployment && <StateChip state={deployment.stateName} />}
        back={{ href: '/deployments', title: 'Deployments' }}
      >
        {deployment && mayWrite('deployment') && (
          <ObjectDeeds
            verb="Edit"
            isDeleting={deletion.isBusy}
            onEdit={() => {
              begun.value = { deployment, etag }
            }}
            onDelete={() =>
              void deletion.ask({
                ...{ path, noun: 'deployment', name: deployment.name, home: '/deployments' },
                text: 'A deployment that a group uses stays.',
              })
            }
          />
        )}
      </ViewHead>
      <Troubles of={shown} deed={deletion} />
      {deployment && <Panels deployment={deployment} />}
      {was && (
        <DeploymentForm
          before={was}
          owner={was.deployment.organization}
          onSaved={(_, saved) => {
            begun.value = null
            const before = toDeploymentFields(was.deployment)
            tellSaved({ path, before, etag: saved, then: reload })
          }}
          onClose={() => {
            begun.value = null
          }}
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
            ['Min', sayCount(min)],
            ['Max', sayCount(max)],
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
