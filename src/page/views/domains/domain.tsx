/** One domain, and the groups that serve it. */
import type { Domain } from '../../../resources/domain.js'
import { LinkButton } from '../../parts/button.js'
import { NamedObject } from '../../parts/named-object.js'
import { UsedBy } from '../../parts/used-by.js'
import { mayRead } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { GraphsSection } from '../graphs/graphs-section.js'
import { domainKind } from './domain-kind.js'

export function View({ params }: ViewProps) {
  return (
    <NamedObject<Domain>
      kind={domainKind}
      id={params['id'] ?? ''}
      wordOf={({ fqdn }) => fqdn}
      isOpen={() => true}
      loss="A domain that a group uses cannot be deleted."
      links={({ id }) =>
        mayRead('log') && (
          <LinkButton icon="log" href={`/log?domain=${id}`}>
            Log
          </LinkButton>
        )
      }
    >
      {(domain) => (
        <>
          {mayRead('vclgroup') && (
            <UsedBy
              title="Groups that answer for it"
              path="/vclgroups"
              query={{ 'domains.id': String(domain.id) }}
              follow={['vclgroup']}
              hrefOf={(id) => `/groups/${id}`}
              none="None yet: add it to a group, then deploy the group."
            />
          )}
          {mayRead('stats') && <GraphsSection subject={{ kind: 'domains', ids: [domain.id] }} />}
        </>
      )}
    </NamedObject>
  )
}
