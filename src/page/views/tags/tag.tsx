/** One tag: the caches that have it and the deployments that require it. */
import type { Tag } from '../../../resources/tag.js'
import { NamedObject } from '../../parts/named-object.js'
import { UsedBy } from '../../parts/used-by.js'
import { mayRead } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { tagKind } from './tag-kind.js'

export function View({ params }: ViewProps) {
  return (
    <NamedObject<Tag>
      kind={tagKind}
      id={params['id'] ?? ''}
      wordOf={({ name }) => name}
      isOpen={(tag) => !tag.static}
      loss="It is removed from its caches. A tag that a deployment uses cannot be deleted."
    >
      {(tag) => <Uses tag={tag} />}
    </NamedObject>
  )
}

function Uses({ tag }: { readonly tag: Tag }) {
  const query = { 'tags.id': String(tag.id) }
  return (
    <>
      {tag.static && (
        <p class="quiet">
          An agent sends this tag by itself: it cannot be renamed or deleted while one does.
        </p>
      )}
      <div class="panels">
        {mayRead('deployment') && (
          <UsedBy
            title="Deployments that ask for it"
            path="/deployments"
            query={query}
            hrefOf={(id) => `/deployments/${id}`}
            none="No deployment asks for it."
          />
        )}
        {mayRead('agent') && (
          <UsedBy
            title="Caches that bear it"
            path="/agents"
            query={query}
            follow={['agent']}
            hrefOf={(id) => `/caches/${id}`}
            none="No cache bears it."
          />
        )}
      </div>
    </>
  )
}
